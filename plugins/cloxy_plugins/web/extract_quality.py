"""How good a found region is, as far as a program can tell."""

from typing import Final

from selectolax.lexbor import LexborNode

from cloxy_plugins.web.trees import amounts

_LINKED: Final = 0.6
_SHARE: Final = 0.25
_ENOUGH: Final = 2_000


def is_poor(region: LexborNode, whole: int) -> bool:
    """Whether a region is mostly links, or a small part of a page and short.

    Args:
        region: what was found, with what is around the text taken out.
        whole: characters of text on the page, spaces left out.
    """
    size = amounts(region)[region.mem_id]
    if size.link_share > _LINKED:
        return True
    return size.characters < min(_ENOUGH, _SHARE * whole)
