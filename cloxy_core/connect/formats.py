"""The formats in which clients keep their MCP servers, behind one interface."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from cloxy_core.connect import json_edit
from cloxy_core.connect.edits import Edit, Lines, apply
from cloxy_core.connect.entry import Values, merged
from cloxy_core.connect.errors import TextFault
from cloxy_core.connect.jsonc import Document, Member, Node, parse


class Format(Protocol):
    """Finds, adds, changes and removes one named entry in a text.

    All of them raise `TextFault` for a text that is not what the format wants; it names the place.
    """

    def entries(self, text: str) -> dict[str, Values]:
        """All entries by name; what is not an object is left out."""
        ...

    def has_container(self, text: str) -> bool:
        """Whether what holds the entries is there."""
        ...

    def added(self, text: str, name: str, values: Values) -> tuple[Edit, ...]:
        """The edits, insertions only, that add an entry that is not there."""
        ...

    def updated(self, text: str, name: str, values: Values) -> str:
        """The text with an entry that is there brought up to date."""
        ...

    def replaced(self, text: str, name: str, values: Values) -> str:
        """The text with another entry in the place of one."""
        ...

    def removed(self, text: str, name: str, *, container: bool) -> str:
        """The text without an entry, and without what held it if that is empty and ours.

        Args:
            text: the text.
            name: the entry.
            container: whether we made what holds the entries.
        """
        ...

    def is_empty(self, text: str) -> bool:
        """Whether a text says nothing: a file that we made ourselves can go then."""
        ...

    def snippet(self, name: str, values: Values) -> str:
        """A whole file with only this entry."""
        ...

    def warning(self, text: str) -> str | None:
        """Why the client may not be able to read the text, if there is a reason."""
        ...


@dataclass(frozen=True, slots=True)
class JsonFormat:
    """JSON with the entries in one object at the top.

    Attributes:
        container: the key of that object.
        strict: the client reads plain JSON, without comments.
    """

    container: str
    strict: bool

    def entries(self, text: str) -> dict[str, Values]:
        """See Format."""
        _, holder = self._holder(text)
        if holder is None:
            return {}
        found = {member.key: member.value.plain() for member in holder.value.members}
        return {name: value for name, value in found.items() if isinstance(value, dict)}

    def has_container(self, text: str) -> bool:
        """See Format."""
        return self._holder(text)[1] is not None

    def added(self, text: str, name: str, values: Values) -> tuple[Edit, ...]:
        """See Format."""
        document, holder = self._holder(text)
        if document.root is None:
            return json_edit.new_document(document, {self.container: {name: values}})
        if holder is None:
            value = {name: values}
            return json_edit.insertion(document, document.root, self.container, value)
        return json_edit.insertion(document, holder.value, name, values)

    def updated(self, text: str, name: str, values: Values) -> str:
        """See Format."""
        wanted = merged(self.entries(text)[name], values)
        for key, value in wanted.items():
            document, node = self._entry(text, name)
            there = node.named(key)
            if not there:
                text = apply(text, json_edit.insertion(document, node, key, value))
            elif there[0].value.plain() != value:
                text = apply(text, json_edit.replacement(document, there[0].value, value))
        for key in [each for each in self.entries(text)[name] if each not in wanted]:
            document, node = self._entry(text, name)
            text = apply(text, json_edit.removal(document, node, node.named(key)[0]))
        return text

    def replaced(self, text: str, name: str, values: Values) -> str:
        """See Format."""
        document, holder = self._holder(text)
        assert holder is not None
        member = holder.value.named(name)[0]
        return apply(text, json_edit.replacement(document, member.value, values))

    def removed(self, text: str, name: str, *, container: bool) -> str:
        """See Format."""
        document, holder = self._holder(text)
        assert holder is not None
        member = holder.value.named(name)[0]
        text = apply(text, json_edit.removal(document, holder.value, member))
        document, holder = self._holder(text)
        assert holder is not None
        assert document.root is not None
        if not _is_bare(document, holder.value):
            return text
        if not container:
            return apply(text, json_edit.emptied(document, holder.value))
        text = apply(text, json_edit.removal(document, document.root, holder))
        document = parse(text)
        assert document.root is not None
        return apply(text, json_edit.emptied(document, document.root))

    def is_empty(self, text: str) -> bool:
        """See Format."""
        document = parse(text)
        if document.comments:
            return False
        return document.root is None or (
            document.root.kind == "object" and not document.root.members
        )

    def snippet(self, name: str, values: Values) -> str:
        """See Format."""
        return apply("", self.added("", name, values))

    def warning(self, text: str) -> str | None:
        """See Format."""
        extensions = parse(text).extensions
        if not self.strict or not extensions:
            return None
        what, line = extensions[0]
        return f"there is {what} in line {line}, which plain JSON does not know: "

    def _holder(self, text: str) -> tuple[Document, Member | None]:
        """The text and the member that holds the entries.

        Raises:
            TextFault: the text cannot be read, or has another shape.
        """
        document = parse(text)
        root = document.root
        if root is None:
            return document, None
        if root.kind != "object":
            raise _fault(text, root.start, "the file must hold a JSON object, { … }")
        holder = _only(text, root, self.container)
        if holder is not None and holder.value.kind != "object":
            raise _fault(text, holder.value.start, f"{self.container} must be an object, {{ … }}")
        if holder is not None:
            seen: set[str] = set()
            for member in holder.value.members:
                if member.key in seen:
                    raise _fault(text, member.start, f"the key {member.key!r} is there twice")
                seen.add(member.key)
                if member.value.kind != "object":
                    raise _fault(text, member.value.start, f"{member.key!r} must be an object")
        return document, holder

    def _entry(self, text: str, name: str) -> tuple[Document, Node]:
        document, holder = self._holder(text)
        assert holder is not None
        return document, holder.value.named(name)[0].value


def _only(text: str, parent: Node, key: str) -> Member | None:
    found = parent.named(key)
    if len(found) > 1:
        raise _fault(text, found[1].start, f"the key {key!r} is there twice")
    return found[0] if found else None


def _is_bare(document: Document, node: Node) -> bool:
    """Whether an object holds neither members nor comments."""
    return not node.members and not document.text[node.start + 1 : node.end - 1].strip()


def _fault(text: str, offset: int, reason: str) -> TextFault:
    return TextFault(reason, *Lines(text).place(offset))


def tables(values: object) -> dict[str, Values]:
    """What of a mapping is itself a mapping."""
    if not isinstance(values, Mapping):
        return {}
    return {str(k): dict(v) for k, v in values.items() if isinstance(v, Mapping)}
