"""Words that sites call things by that are around their text."""

import re
from collections.abc import Mapping
from typing import Final

_ROLES: Final = frozenset(
    {"alertdialog", "banner", "complementary", "contentinfo", "dialog", "menu", "menubar"}
    | {"navigation", "search", "tablist", "toolbar"}
)
_USUALLY: Final = frozenset({"aside", "footer", "form", "search"})
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
# Where classes are made by a machine, parts of a page are told apart by one of these.
_NAMED_BY: Final = (
    *("data-component", "data-component-name", "data-testid", "data-test-id", "data-module"),
    *("data-framer-name", "data-block-name", "data-widget-type"),
)
_KINDS: Final = re.compile(
    r"schema\.org/(?:BreadcrumbList|SiteNavigationElement|WP(?:AdBlock|Footer|Header|SideBar))\b"
)
_FIXED: Final = re.compile(r"position\s*:\s*fixed\b", re.IGNORECASE)
# An aside that is called so belongs to the text.
_OF_THE_TEXT: Final = re.compile(
    r"\b(?:admonition|alert|callout|caution|footnotes?|hint|important|note|sidenote|tip|warning)\b",
    re.IGNORECASE,
)
# One of these in a class or id is enough.
_NAMES_TEXT: Final = (
    "action-bar ad ads adsbygoogle adsense advert advertisement ambox announcement "
    "announcement-bar assistive back-to-top back2top backlinks backtotop banner bottom-notice "
    "breadcrumb breadcrumbs button buttons cat-links categories catlinks colophon "
    "comment-form comment-notes comment-respond comments-link consent contents cookie cookies "
    "copyright copyright-notice crawler-linkback-list crumbs cta d-print-none disclosure "
    "discourse-tags donate donation donation-appeal edit-link edit-page editsection "
    "entry-categories fixed fixed-bottom fixed-top follow foot footer fundraising gdpr giscus "
    "gotop hash-link hatnote headerlink hidden hidden-print jump-to-nav jumpbox label-list "
    "likes localization-form login mainmenu masthead-nav mega-menu menu menubar mobile-nav "
    "modal more-from more-stories more-topics most-popular most-read mostread "
    "msearchresultswindow msearchselectwindow mw-editsection mw-jump-link mw-portlet nav "
    "navbar navbox navigation newsletter next no-print noprint ombox overlay page-metadata "
    "page-nav pager pagination pagination-nav paywall popup post-actions post-categories "
    "post-controls post-footer post-likes post-menu post-meta-nav post-nav post-navigation "
    "postdetails postprofile prev-next prevnext print-hidden printfooter promo "
    "quick-comment-container rail read-more read-next recirc recommended refby register "
    "regwall related related-articles related-posts relatedposts respond rst-footer-buttons "
    "rst-versions screen-reader-text share share-buttons sharedaddy sharing side side-bar "
    "sidebar sidenav sign-in sign-up signature signin signup site-banner site-foot "
    "site-footer sitenotice skip skip-link skiplink sociable social social-share sponsor "
    "sponsored sr-only stat-block subscribe subscription suggested-topics support-us "
    "table-of-contents tablist tag-list tags tmbox to-top toc toolbar topbar topic-category "
    "topic-map topnav trending up-next user-info usermenu usernotes utterances version-banner "
    "version-switcher versions visually-hidden was-this-helpful who-is-online widget "
    "wrapfooter"
)
# These are enough as a part of a longer name.
_PARTS_TEXT: Final = (
    "ad ads adsense advert advertisement breadcrumb breadcrumbs consent cookie cookies "
    "copyright cta ctas didomi disqus feedback footer gdpr helpful lightbox menubar modal "
    "navbar newsletter onetrust outbrain pagination paywall popover promo promoted promotion "
    "rail recirculation recommendations recommended regwall related relatedposts share "
    "sharing sidebar signup snackbar social sponsor sponsored subscribe suggested survey "
    "taboola tags toast toc tooltip trending"
)
# Numbers of lines beside code; on `pre` and `code` such a name means that there are some.
_LINE_NUMBERS_TEXT: Final = (
    "blob-num crayon-nums gutter hljs-ln-numbers line-numbers-rows lineno linenodiv linenos "
    "linenumber linenumbers rouge-gutter"
)
_NAMES: Final = frozenset(_NAMES_TEXT.split())
_PARTS: Final = frozenset(_PARTS_TEXT.split())
_LINE_NUMBERS: Final = frozenset(_LINE_NUMBERS_TEXT.split())
# These say it wherever they are in a name: nothing else is called so.
_INSIDE: Final = (
    *("breadcrumb", "cookiebanner", "cookieconsent", "cookienotice", "newsletter", "paywall"),
    *("relatedarticle", "relatedpost", "sharebar", "sharebutton", "signup", "socialshare"),
)
# Two parts of one name that say it together.
_PAIRS: Final = (
    (frozenset({"author"}), frozenset({"about", "bio", "box", "card", "description", "info"})),
    (frozenset({"next", "prev", "previous"}), frozenset({"article", "post", "story"})),
    (frozenset({"version"}), frozenset({"badge", "banner", "picker", "selector", "warning"})),
    (
        frozenset({"lang", "language", "languages", "locale"}),
        frozenset(
            {"btn", "dropdown", "menu", "picker", "portlet", "selector", "switch", "switcher"}
        ),
    ),
    (frozenset({"last"}), frozenset({"edited", "modified", "updated"})),
    (frozenset({"embed", "embedded"}), frozenset({"article", "post", "story"})),
    (
        frozenset({"more", "other", "popular", "similar"}),
        frozenset({"articles", "posts", "stories"}),
    ),
    (frozenset({"edit", "improve"}), frozenset({"page"})),
)
_CODE: Final = frozenset({"pre", "code"})
_PRESSED: Final = frozenset({"btn", "button"})
_OF_A_POST: Final = frozenset({"hentry", "post", "type-post"})
_TOPICS: Final = ("category-", "tag-")
_SPLIT: Final = re.compile(r"[-_]+|(?<=[a-z])(?=[A-Z])")
_NUMBER: Final = re.compile(r"\d+$")
# Behind one of these comes what else is on the page: `has-sidebar`, `anchorWithStickyNavbar`.
_BESIDE: Final = frozenset({"has", "no", "with", "without"})
_MOST: Final = 500


def is_called_around(tag: str, given: Mapping[str, str]) -> bool:
    """Whether an element is named, by tag, role, class or id, as what stands around a text."""
    label = f"{given.get('class', '')} {given.get('id', '')}"
    if tag in _USUALLY or given.get("role", "").strip().lower() in _ROLES:
        told = f"{label} {given.get('role', '')}"
        return not (tag == "aside" and _OF_THE_TEXT.search(told))
    names = label[:_MOST].split()
    if tag in _HEADINGS:
        # What a heading is for says the box that it is in.
        return any(name.lower() in _NAMES for name in names)
    if not _OF_A_POST.isdisjoint(names):
        # What it is about is no name.
        names = [name for name in names if not name.startswith(_TOPICS)]
    names += ["-".join(given[by][:_MOST].split()) for by in _NAMED_BY if by in given]
    return any(map(_is_name_around, names)) or _is_told_around(given)


def _is_told_around(given: Mapping[str, str]) -> bool:
    """Whether attributes say it that have a meaning to programs."""
    return (
        "popover" in given
        or "data-nosnippet" in given
        or _KINDS.search(given.get("itemtype", "")[:_MOST]) is not None
        or _FIXED.search(given.get("style", "")[:_MOST]) is not None
    )


def is_line_numbers(tag: str, given: Mapping[str, str]) -> bool:
    """Whether an element holds the numbers of lines of code."""
    names = given.get("class", "").lower().split()
    return tag not in _CODE and not _LINE_NUMBERS.isdisjoint(names)


def is_called_form(given: Mapping[str, str]) -> bool:
    """Whether a form says that it is there to be filled in."""
    label = f"{given.get('class', '')} {given.get('id', '')}"[:_MOST]
    return any("form" in _parts(name) for name in label.split())


def is_dressed_as_button(given: Mapping[str, str]) -> bool:
    """Whether a link looks like a button."""
    names = given.get("class", "").split()
    return any(not _PRESSED.isdisjoint(_parts(name)) for name in names)


def _is_name_around(name: str) -> bool:
    if name.lower() in _NAMES:
        return True
    if any(word in name.lower() for word in _INSIDE):
        return True
    parts = _parts(name)
    return not _PARTS.isdisjoint(parts) or any(
        not one.isdisjoint(parts) and not other.isdisjoint(parts) for one, other in _PAIRS
    )


def _parts(name: str) -> frozenset[str]:
    parts = [_NUMBER.sub("", part).lower() for part in _SPLIT.split(name)]
    beside = next((place for place, part in enumerate(parts) if part in _BESIDE), len(parts))
    return frozenset(parts[:beside])
