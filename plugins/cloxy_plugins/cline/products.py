"""The three agents, and whose a folder is."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)


@dataclass(frozen=True, slots=True)
class Product:
    """One of the agents.

    Attributes:
        agent: its name.
        extensions: names of its folders below `globalStorage`, in lower case.
        home: its folder in the home folder.
        stores: folders below that one which stand for that of its extension, for its command line
            and for JetBrains.
        settings: names of the settings of an editor with which its tasks are moved.
    """

    agent: str
    extensions: tuple[str, ...]
    home: str
    stores: tuple[tuple[str, ...], ...] = ()
    settings: tuple[str, ...] = ()


CLINE = Product("cline", ("saoudrizwan.claude-dev", "saoudrizwan.cline-nightly"), ".cline")
ROO = Product(
    "roo-code",
    ("rooveterinaryinc.roo-cline", "rooveterinaryinc.roo-code-nightly"),
    ".vscode-mock",
    stores=(("global-storage",),),
    settings=("roo-cline.customStoragePath", "roo-code-nightly.customStoragePath"),
)
KILO = Product(
    "kilo-code",
    ("kilocode.kilo-code",),
    ".kilocode",
    stores=(("cli", "global"), ("globalStorage",), ("globalStorage", "kilo code.kilo-code")),
    settings=("kilo-code.customStoragePath",),
)

PRODUCTS = (CLINE, ROO, KILO)


def owner_of(parts: Sequence[str]) -> Product:
    """Whose task a folder holds.

    Args:
        parts: its path, part by part; where no part names an agent, the name of the task tells:
            Roo Code's are UUIDs, Cline's are times.
    """
    for part in reversed(parts):
        name = part.lower()
        for product in PRODUCTS:
            if name in product.extensions or name == product.home:
                return product
    return ROO if _UUID.fullmatch(parts[-1]) else CLINE
