"""Short blocks that say themselves that they are no text: advertisements, states, questions."""

import re
from typing import Final

from selectolax.lexbor import LexborNode

_AD: Final = re.compile(
    r"(?:advertisement|sponsored(?: content| links?| post)?|report this ad|anzeige|werbung"
    r"|publicité|publicidad|pubblicità|advertentie)\s*(?:[:—–-]|$)",
    re.IGNORECASE,
)
_AD_CHARACTERS: Final = 200
_CHANGED: Final = re.compile(
    r"(?:this (?:page|article|post|document) was )?(?:last|page) "
    r"(?:updated|modified|edited|changed)\b"
    r"|(?:updated|edited|modified) on\b"
    r"|zuletzt (?:geändert|bearbeitet|aktualisiert)\b|dernière (?:modification|mise à jour)\b"
    r"|(?:última|ultima) (?:actualización|modificación|edición|modifica|atualização|modificação)\b"
    r"|ultimo aggiornamento\b|laatst (?:bijgewerkt|gewijzigd)\b|senast (?:ändrad|uppdaterad)\b"
    r"|ostatnia (?:aktualizacja|modyfikacja)\b|последнее (?:изменение|обновление)\b"
    r"|最終更新|最后更新|最后编辑|最後更新|آخر تحديث",
    re.IGNORECASE,
)
_CHANGED_CHARACTERS: Final = 120
_ASKED: Final = re.compile(
    r"(?:(?:was|did|is) this (?:\w+ ){0,2}(?:help|helpful|useful)(?: (?:you|to you))?"
    r"|(?:did you find|have you found) this (?:\w+ ){0,2}(?:helpful|useful)"
    r"|war (?:das|diese seite|dieser artikel) hilfreich|cette page vous a-t-elle été utile"
    r"|¿te (?:ha resultado|resultó) útil[^?]{0,30}|¿(?:te|le) (?:ha )?(?:sirvió|servido)[^?]{0,30}"
    r"|questa pagina (?:ti )?è stata utile|was deze pagina nuttig|esta página foi útil)\s*\?",
    re.IGNORECASE,
)
_ASKED_CHARACTERS: Final = 80
_WAITING: Final = re.compile(
    r"(?:loading|searching|please wait|no (?:matches|results)(?: found)?)\s*(?:\.{3}|…)?", re.I
)
_CONSENT: Final = re.compile(r"\b(?:cookies?|rgpd|gdpr|dsgvo)\b|クッキー|файлы cookie", re.I)
_CONSENT_CHARACTERS: Final = 600
_RIGHTS: Final = re.compile(
    r"\ball rights reserved\b|\balle rechte vorbehalten\b|\btous droits réservés\b"
    r"|\btodos los derechos reservados\b|\btodos os direitos reservados\b"
    r"|\btutti i diritti riservati\b|\balle rechten voorbehouden\b"
    r"|\bwszelkie prawa zastrzeżone\b|\bвсе права защищены\b|כל הזכויות שמורות"
    r"|جميع الحقوق محفوظة|版权所有|版權所有|無断転載",
    re.IGNORECASE,
)
_WRITTEN: Final = "input[type=email],input[type=password],input[type=tel],textarea"
_OWN_TEXT: Final = "h1,pre,table,main,article,blockquote"
_FORM_CHARACTERS: Final = 400
_PRESSED: Final = "button,[role=button],input[type=button],input[type=submit]"
_BLOCKS: Final = frozenset({"div", "p", "section", "span", "small", "footer", "em", "i"})
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BOXES: Final = frozenset({"div", "section"})


def says_it_is_around(node: LexborNode, characters: int) -> bool:
    """Whether the words of a short block tell that it is no text of its page.

    Args:
        node: an element.
        characters: of its text.
    """
    tag = node.tag or ""
    if tag in _BOXES and characters < _CONSENT_CHARACTERS and _is_consent(node):
        return True
    if tag in _BOXES and characters < _FORM_CHARACTERS and _is_asking(node):
        return True
    if tag not in _BLOCKS or not 0 < characters < _AD_CHARACTERS:
        return False
    text = " ".join(node.text(separator=" ").split())
    if _AD.match(text) or (len(text) < _ASKED_CHARACTERS and _ASKED.match(text)):
        return True
    if tag == "span" and node.parent is not None and node.parent.tag == "p":
        return False
    if _RIGHTS.search(text) and not _follows_heading(node):
        return True
    if tag == "div" and _WAITING.fullmatch(text):
        return True
    return (
        tag not in {"em", "i"}
        and len(text) < _CHANGED_CHARACTERS
        and _CHANGED.match(text) is not None
        and any(map(str.isdigit, text))
    )


def _follows_heading(node: LexborNode) -> bool:
    before = node.prev
    while before is not None and not before.is_element_node:
        before = before.prev
    return before is not None and (before.tag or "") in _HEADINGS


def _is_asking(node: LexborNode) -> bool:
    """Something to write into beside a few words: of letters, accounts or answers."""
    return node.css_first(_WRITTEN) is not None and node.css_first(_OWN_TEXT) is None


def _is_consent(node: LexborNode) -> bool:
    """Something to press beside words about cookies."""
    return (
        node.css_first(_PRESSED) is not None
        and node.css_first(_OWN_TEXT) is None
        and _CONSENT.search(node.text(separator=" ")) is not None
    )
