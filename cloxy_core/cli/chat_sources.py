"""The memories that a model was given: when and where they were said."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from cloxy_core.cli import fields, output
from cloxy_core.client import Client
from cloxy_core.client_config import ClientError

SECONDS: Final = 10.0
_MOST: Final = 50


@dataclass(frozen=True, slots=True)
class Source:
    """A memory.

    Attributes:
        id: its id.
        date: when it was said, ISO; empty when that is not known.
        project: folder of its project; empty when it has none.
        title: title of its session; empty when it has none.
    """

    id: int
    date: str = ""
    project: str = ""
    title: str = ""

    def as_object(self) -> dict[str, object]:
        """For `--json`."""
        return {
            "id": self.id,
            "date": self.date or None,
            "project": self.project or None,
            "title": self.title or None,
        }


def sources_of(client: Client, ids: Sequence[int]) -> tuple[Source, ...]:
    """What is known of memories; of one that cannot be asked for, its id."""
    return tuple(_source(client, number) for number in ids[:_MOST])


def _source(client: Client, number: int) -> Source:
    try:
        found = client.request("GET", f"/memory/{number}", seconds=SECONDS)
    except ClientError:
        return Source(number)
    return Source(
        id=number,
        date=fields.text(found, "ts_start"),
        project=fields.text(found, "project"),
        title=fields.text(found, "title"),
    )


def source_lines(sources: Sequence[Source]) -> Iterator[str]:
    """Date, project, title and id of each, for a person; escaped."""
    for each in sources:
        name = each.project.replace("\\", "/").rstrip("/").rpartition("/")[2]
        parts = [fields.local_time(each.date) if each.date else "no date", name, each.title]
        known = " · ".join(output.escape(part) for part in parts if part)
        yield output.dim(f"  {known} · id {each.id}")


def memory_ids(meta: Mapping[str, object], header: str) -> tuple[int, ...]:
    """Ids of the memories that the model was given: told at the end, or before the answer."""
    told = fields.items(meta, "memory")
    if not told:
        told = [part.strip() for part in header.split(",")]
    return tuple(int(str(each)) for each in told if str(each).isdigit())[:_MOST]


def project_here(client: Client) -> str | None:
    """The project of the memory that the working directory lies in; None when it is in none.

    Raises:
        ClientError: the server cannot be asked.
    """
    answer = client.request("GET", "/projects", seconds=SECONDS)
    known = [fields.text(each, "project") for each in fields.records(answer, "projects")]
    here = PurePath(os.getcwd())  # noqa: PTH109 - compared as text, no links resolved
    around = [each for each in known if PurePath(each).is_absolute() and here.is_relative_to(each)]
    return max(around, key=len, default=None)
