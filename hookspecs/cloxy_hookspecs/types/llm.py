"""A conversation on its way to a language model, and what comes back of it.

Nothing here knows an API: a door turns what its clients send into a `ChatRequest`, a back-end turns
that into what its library or server takes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

ChatRole = Literal["system", "user", "assistant", "tool"]
ModelRole = Literal["chat", "extract", "reflect", "rerank"]
FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]
ToolMode = Literal["auto", "none", "required", "named"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asked for.

    Attributes:
        id: pairs it with its result.
        name: name of the tool.
        arguments: a JSON object as text, as the model wrote it.
    """

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One turn of a conversation.

    Attributes:
        role: whose turn it is.
        text: what was said; empty for a turn that only calls tools.
        tool_calls: tools that an assistant's turn calls.
        tool_call_id: of a tool's turn: the call that it answers.
        name: name of the speaker or the tool, where the client gave one.
    """

    role: ChatRole
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that a model may call.

    Attributes:
        name: its name.
        description: what it does; may be empty.
        parameters: JSON Schema of its arguments.
    """

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Whether tools may or must be called.

    Attributes:
        mode: `auto` leaves it to the model, `required` wants any call, `named` that of one tool.
        name: the tool, when `named`.
        parallel: whether several may be called in one turn; None leaves it to the back-end.
    """

    mode: ToolMode = "auto"
    name: str | None = None
    parallel: bool | None = None


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """The form that an answer must have.

    Attributes:
        schema: JSON Schema of the answer; None for any JSON object.
        name: name of the schema.
    """

    schema: Mapping[str, object] | None = None
    name: str = "answer"


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a model is asked.

    Attributes:
        messages: the conversation, never empty.
        model: the model that was asked for, its alias resolved; None for the one that is set.
        max_tokens: longest answer, in tokens.
        temperature: 0..2; None leaves it to the back-end.
        top_p: 0..1; None leaves it to the back-end.
        stop: texts before which the answer ends; they are not part of it.
        seed: for the same answer again, as far as the back-end can.
        tools: what may be called.
        tool_choice: whether it may or must be.
        response_format: form of the answer; None for plain text.
    """

    messages: tuple[ChatMessage, ...]
    model: str | None = None
    max_tokens: int = 512
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = ToolChoice()
    response_format: ResponseFormat | None = None


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """What an answer cost.

    Attributes:
        prompt: tokens of the conversation.
        completion: tokens of the answer.
        cached: tokens of the conversation that had been computed before.
    """

    prompt: int
    completion: int
    cached: int = 0


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A part of a call while it is written.

    Attributes:
        index: which call of the turn, from 0.
        id: its id, with its first part.
        name: its tool, with its first part.
        arguments: the next piece of its arguments' JSON text.
    """

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class ChatDelta:
    """A part of an answer.

    Attributes:
        text: the next piece of text; may be empty.
        tool_calls: parts of calls.
        finish: why the answer ended; with exactly one delta, after all text and calls.
        usage: what it cost; with that delta or the one after it, where it is known.
    """

    text: str = ""
    tool_calls: tuple[ToolCallDelta, ...] = ()
    finish: FinishReason | None = None
    usage: TokenUsage | None = None


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """A whole answer.

    Attributes:
        text: what was said.
        tool_calls: tools to call.
        finish: why it ended.
        usage: what it cost; None when that is not known.
    """

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish: FinishReason
    usage: TokenUsage | None


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that can be asked.

    Attributes:
        id: its name.
        backend: name of the record that answers for it.
        context_tokens: conversation and answer together; None when that is not known.
        tools: whether it takes tools.
        response_format: whether it takes a form for its answer.
        alternates: whether its template wants user and assistant strictly by turns.
        created: when it was made or installed, seconds since the epoch; None when unknown.
        remote: whether asking it sends the conversation off this machine.
    """

    id: str
    backend: str
    context_tokens: int | None = None
    tools: bool = False
    response_format: bool = False
    alternates: bool = False
    created: int | None = None
    remote: bool = False


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model that `cloxy init` set up on this machine.

    Attributes:
        name: short name for people.
        format: `gguf` or `mlx`, the form of its files; `http` for a server of somebody else.
        source: where it came from: a Hugging Face id, an address, or the path of a local file.
        path: absolute path of the file or folder to load; None for `http`.
        load_gb: memory that it takes, 10^9 bytes; None when that is not known.
        context_tokens: context to load it with; None leaves it to the back-end.
        model: of `http`: which of the server's models.
    """

    name: str
    format: Literal["gguf", "mlx", "http"]
    source: str
    path: str | None = None
    load_gb: float | None = None
    context_tokens: int | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class BackendStatus:
    """How a back-end is.

    Attributes:
        name: name of its record.
        place: where it runs, for people: an address, or "a process of its own".
        model: model that is set; None when none is.
        loaded: whether it is in memory; None when that is somebody else's business.
        running: answers that are being made.
        waiting: requests that wait.
        remote: whether conversations leave this machine.
        sent_away: answers since the start for which one did.
        trouble: why it cannot answer, in words with what to do; None when it can.
    """

    name: str
    place: str
    model: str | None = None
    loaded: bool | None = None
    running: int = 0
    waiting: int = 0
    remote: bool = False
    sent_away: int = 0
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class HostedOptions:
    """What a process is told that is to load a model.

    Attributes:
        choice: the model.
        threads: processor threads that it may use.
        settings: values of the settings that its record names, by name, JSON-ready.
    """

    choice: ModelChoice
    threads: int
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
