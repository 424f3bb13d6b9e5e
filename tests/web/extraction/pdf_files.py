"""Small PDF documents."""

import io

import pypdf
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject


def pdf(text, *, encrypted=False):
    """A document of one page with a line of text."""
    writer = pypdf.PdfWriter()
    sheet = writer.add_blank_page(300, 300)
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    named = {NameObject(name): NameObject(value) for name, value in font.items()}
    fonts = DictionaryObject({NameObject("/F1"): DictionaryObject(named)})
    sheet[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    stream = DecodedStreamObject()
    stream.set_data(f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET".encode())
    sheet[NameObject("/Contents")] = writer._add_object(stream)
    writer.add_metadata({"/Title": "Tide tables"})
    if encrypted:
        writer.encrypt("key")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()
