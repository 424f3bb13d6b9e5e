"""Doors: how an operation is reached."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from pydantic import BaseModel

Effect = Literal["read", "write", "admin"]

Into: TypeAlias = Callable[[Any], Mapping[str, object]]
"""From a door's own arguments (an instance of its `input`) to fields of the operation's input."""

AsText: TypeAlias = Callable[[Any], str]
"""From an output of the operation to text for a reader: plain, without fence or escapes."""


@dataclass(frozen=True, slots=True)
class Route:
    """A REST door.

    Attributes:
        method: HTTP method.
        path: path template; `{name}` binds a field of the input model.
        status: status of a success.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    status: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """An MCP tool.

    Attributes:
        name: what a model calls it by: 1 to 128 of A-Z, a-z, 0-9, `_`, `.` and `-`.
        title: what a person reads.
        description: what it does and when to use it, for the model.
        toolset: group by which people choose what an editor sees; `cloxy` is shown by default.
        input: pydantic model of its arguments; the operation's input when None.
        into: arguments to fields of the operation's input; same names when None.
        text: output to readable text; JSON when None.
        untrusted: whether the text quotes what was said, stored or fetched: it is then fenced.
        pages: field of the output with a list of which a long answer shows a part at a time.
        destructive: whether it may remove something; None: no for effect `read`, else yes.
        idempotent: whether a second call changes nothing more; None: yes for effect `read`.
        open_world: whether it reaches beyond this machine.
    """

    name: str
    title: str
    description: str
    toolset: str = "cloxy"
    input: "type[BaseModel] | None" = None
    into: Into | None = None
    text: AsText | None = None
    untrusted: bool = True
    pages: str | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """An MCP resource, or a template of such.

    Attributes:
        uri: `cloxy://...`; `{name}` binds a field of the operation's input.
        name: short name.
        title: what a person reads.
        description: what it is.
        text: output to readable text; JSON when None.
        untrusted: whether the text quotes what was said, stored or fetched: it is then fenced.
    """

    uri: str
    name: str
    title: str
    description: str
    text: AsText | None = None
    untrusted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """An MCP prompt: a ready question that a person picks, with what the operation finds.

    Attributes:
        name: short name.
        title: what a person reads.
        description: what it is for.
        input: pydantic model of its arguments; every field is a text.
        into: arguments to fields of the operation's input; same names when None.
        question: arguments to the person's question, which stands before what was found.
        text: output to readable text; JSON when None.
        untrusted: whether the text quotes what was said, stored or fetched: it is then fenced.
    """

    name: str
    title: str
    description: str
    input: "type[BaseModel]"
    question: AsText
    into: Into | None = None
    text: AsText | None = None
    untrusted: bool = True


Door: TypeAlias = Route | Tool | Resource | Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointRequest:
    """A request as an endpoint gets it, after the boundary let it pass.

    Attributes:
        path_values: values of the path's placeholders.
        query: parameters of the query; of one given twice the last.
        headers: by lower-case name, without those that carry keys or cookies.
        body: the whole body.
        owner: whether the caller proved to be the owner of the data directory.
    """

    path_values: Mapping[str, str] = field(default_factory=dict[str, str])
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    owner: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointAnswer:
    """What an endpoint answers.

    Attributes:
        body: the body, or its pieces as they come; such an iterator is closed when the client
            goes away.
        status: HTTP status.
        media_type: type of the body.
        headers: further headers.
    """

    body: bytes | AsyncIterator[bytes]
    status: int = 200
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
