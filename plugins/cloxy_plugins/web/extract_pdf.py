"""Text of PDF documents."""

import io
from typing import Final

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from cloxy_hookspecs import Extracted, FetchError, FetchMode, PageSource

MOST_PAGES: Final = 300
_FEW: Final = 50


def extract(source: PageSource, mode: FetchMode, selector: str | None) -> Extracted:
    """Text of each page of a document.

    Raises:
        FetchError: it is encrypted, or damaged or cut so that it cannot be read.
    """
    del mode, selector
    try:
        reader = PdfReader(io.BytesIO(source.data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise FetchError("the PDF is encrypted")
        pages = reader.pages[:MOST_PAGES]
        texts = [(page.extract_text() or "").strip() for page in pages]
        title = str((reader.metadata.title if reader.metadata else "") or "")
        count = len(reader.pages)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise FetchError(
            "the PDF cannot be read: it is damaged, or larger than what is fetched of a page"
        ) from error
    text = "\n\n".join(filter(None, texts))
    notes = [f"the first {MOST_PAGES} of {count} pages"] if count > MOST_PAGES else []
    if len(text) < _FEW:
        notes.append("the PDF has hardly any text; it may be made of pictures")
        return Extracted(text, title, flags=frozenset({"too_little_text"}), notes=tuple(notes))
    return Extracted(text, title, notes=tuple(notes))
