"""Which part of a text a person or an agent wrote, and which the harness added."""

import re
from collections.abc import Iterator

from cloxy_hookspecs.logs.json_values import Record, decode, is_record

_NEW = ("task", "feedback", "user_message", "answer")
_OF_USER = re.compile(r"\buser\b")
_ANSWER_OF = re.compile(r"\[(\w+)[^\n]{0,1000}\] Result:\s*")
_HEAD = 500
_RESUMED = "[TASK RESUMPTION]"
_INJECTED = (
    "environment_details",
    "environment_notice",
    "mode_notice",
    "hook_context",
    "explicit_instructions",
    "file_content",
    "final_file_content",
    "folder_content",
    "url_content",
    "workspace_diagnostics",
    "terminal_output",
    "git_working_state",
    "system-reminder",
)
_COMMAND = re.compile(r'<user_command\b[^<>]{0,500}?\bslash="([^"<>]{1,80})"[^<>]{0,500}>')
_INPUT = re.compile(r"<user_input\b[^>]{0,200}>")
_END_OF_COMMAND = "</user_command>"
_END_OF_INPUT = "</user_input>"
# What the tools were called while they were written into the text; those with a body that may
# hold anything come last.
_TOOLS = (
    "execute_command",
    "read_file",
    "list_files",
    "list_code_definition_names",
    "search_files",
    "codebase_search",
    "browser_action",
    "use_mcp_tool",
    "access_mcp_resource",
    "load_mcp_documentation",
    "fetch_instructions",
    "switch_mode",
    "update_todo_list",
    "web_fetch",
    "web_search",
    "use_skill",
    "run_slash_command",
    "generate_explanation",
    "generate_image",
    "focus_chain",
    "task_progress",
    "thinking",
    "inspect_site",
    "read_multiple_files",
    "report_bug",
    "new_rule",
    "write_to_file",
    "replace_in_file",
    "apply_diff",
    "insert_content",
    "search_and_replace",
    "edit_file",
    "apply_patch",
)
_ANYTHING = frozenset(_TOOLS[_TOOLS.index("write_to_file") :])
_ASKING = {
    "attempt_completion": "result",
    "ask_followup_question": "question",
    "ask_question": "question",
    "plan_mode_respond": "response",
    "act_mode_respond": "response",
    "submit_and_exit": "summary",
}
"""Tools with which an agent speaks, and the field that holds its words."""

_CALL = re.compile(rf"(?m)^[ \t]*<({'|'.join((*_TOOLS, *_ASKING, 'new_task', 'condense'))})>")


def spoken_field(tool: object) -> str | None:
    """The field with the words of a tool with which an agent speaks; None for other tools."""
    return _ASKING.get(tool) if isinstance(tool, str) else None


def heads_an_answer(text: str) -> bool:
    """Whether a text only says which tool the next one is the answer of."""
    head = _ANSWER_OF.match(text)
    return head is not None and head.end() == len(text)


def typed_in_history(text: str, *, first: bool, tool: object = None) -> str:
    """What a person wrote in a text of the user's role, as it was sent to a model.

    Everything else is a tool's answer or the harness's.

    Args:
        text: one block of the message.
        first: whether it is of the first message, which holds the task.
        tool: the tool whose answer it is, if it is one.
    """
    text = _cleaned(text)
    if head := _ANSWER_OF.match(text):
        tool, text = head[1], text[head.end() :]
    if tool is None or spoken_field(tool) is not None:
        for tag in _NEW if first else _NEW[1:]:
            if text.startswith(f"<{tag}>"):
                return _inside(text, tag, 0)
    if text.startswith(_RESUMED):
        start = text.find("\n<user_message>")
        return "" if start < 0 else _inside(text, "user_message", start + 1)
    line, _end, _rest = text.partition("\n")
    told = text.startswith("<feedback>", len(line) + 1) and _OF_USER.search(line[:_HEAD])
    return _inside(text, "feedback", len(line) + 1) if told else ""


def typed_in_session(text: str) -> str:
    """What a person wrote in a text of the user's role in a session of Cline 4."""
    typed = list(_inputs(text))
    if typed:
        text = "\n\n".join(typed)
    text = text.strip()
    if command := _COMMAND.match(text):
        end = text.rfind(_END_OF_COMMAND)
        inner = text[command.end() : end if end > command.end() else len(text)]
        text = f"/{command[1]} {inner.strip()}"
    text = _cleaned(text)
    return "" if text.startswith(_RESUMED) else text


def said_in_history(text: str) -> str:
    """What an agent said in a text that has its tool calls in it."""
    said: list[str] = []
    position = 0
    while call := _CALL.search(text, position):
        said.append(text[position : call.start()])
        tool = call[1]
        closing = f"</{tool}>"
        find = text.rfind if tool in _ANYTHING else text.find
        end = find(closing, call.end())
        body = text[call.end() : end if end >= 0 else len(text)]
        field = _ASKING.get(tool)
        if field is not None and (start := body.find(f"<{field}>")) >= 0:
            said.append(_inside(body, field, start))
        position = end + len(closing) if end >= 0 else len(text)
    said.append(text[position:])
    return "\n\n".join(part.strip() for part in said if part.strip())


def _inside(text: str, tag: str, start: int) -> str:
    """What stands in an element; a last end of that name ends it, or the text does."""
    begin = start + len(tag) + 2
    end = text.rfind(f"</{tag}>")
    return text[begin : end if end >= begin else len(text)].strip()


def _inputs(text: str) -> Iterator[str]:
    """What stands in the elements that hold a person's input."""
    starts = list(_INPUT.finditer(text))
    for number, start in enumerate(starts):
        limit = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        end = text.rfind(_END_OF_INPUT, start.end(), limit)
        yield text[start.end() : end if end >= 0 else limit].strip()


def _cleaned(text: str) -> str:
    """A text without the elements that the harness put into it."""
    for tag in _INJECTED:
        text = _without(text, tag)
    return text.strip()


def _without(text: str, tag: str) -> str:
    opening, closing = re.compile(rf"<{tag}(?:\s[^<>]{{0,1000}})?>"), f"</{tag}>"
    kept: list[str] = []
    position = 0
    while start := opening.search(text, position):
        end = text.find(closing, start.end())
        if end < 0:
            break
        kept.append(text[position : start.start()])
        position = end + len(closing)
    kept.append(text[position:])
    return "".join(kept)


def fields_in(text: str) -> Record | None:
    """The object of a text that is one in JSON."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = decode(text)
    except ValueError:
        return None
    return value if is_record(value) else None
