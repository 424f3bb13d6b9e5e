"""Words too common in English questions to search for."""

STOP_WORDS = frozenset(
    """
    a about above all also am an and any are aren't as at be because been being below between
    both but by can can't cannot could couldn't did didn't do does doesn't doing don't during
    each else ever for from further had hadn't has hasn't have haven't having he he'd he'll he's
    her here here's hers herself him himself his how how's i i'd i'll i'm i've if in into is
    isn't it it's its itself just let let's me might much must mustn't my myself no nor not of
    ok okay on once only or other ought our ours ourselves please shall she she'd she'll she's
    should shouldn't so some such than that that's the their theirs them themselves then there
    there's these they they'd they'll they're they've this those through to too until us very
    was wasn't we we'd we'll we're we've were weren't what what's when when's where where's
    which while who who's whom whose why why's will with won't would wouldn't yes yet you you'd
    you'll you're you've your yours yourself yourselves
    """.split()  # noqa: SIM905 - a list of 180 strings would hide the words
)
"""Lower case, with a straight apostrophe."""
