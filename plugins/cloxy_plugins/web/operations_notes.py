"""What a reader of a page should know, in words."""

from typing import Final

from cloxy_hookspecs import PageFlag, ReadPage

FLAGS: Final[dict[PageFlag, str]] = {
    "needs_browser": (
        "this page builds its text in a browser: what the server sent may not hold what people see"
    ),
    "too_little_text": "the page has too little text to tell anything from",
}
CUT: Final = "the page is longer than what is read of it: its end is missing"


def flag_notes(page: ReadPage) -> list[str]:
    """Why its text may not be what a person sees."""
    return [words for flag, words in FLAGS.items() if flag in page.flags]


def page_notes(page: ReadPage) -> list[str]:
    """Everything that a reader of the text should know."""
    return [*page.notes, *flag_notes(page), *([CUT] if page.truncated else [])]
