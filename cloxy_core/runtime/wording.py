"""Words that people read."""


def counted(count: int, one: str, many: str = "") -> str:
    """A number and what is counted.

    Args:
        count: how many there are.
        one: the word for one of them.
        many: the word for none or several; `one` with an s when it is left out.
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
