"""What `cloxy show` prints."""

from collections.abc import Iterator

from cloxy_core.cli import fields, output
from cloxy_core.cli.init_places import Places
from cloxy_core.cli.init_report import choice_object
from cloxy_core.cli.show_state import ModelState
from cloxy_core.runtime.wording import counted


def state_lines(state: ModelState, places: Places) -> Iterator[str]:
    """Everything as lines for a person; escaped."""
    choice = state.choice
    if choice is None:
        yield f"No model is set up ({output.escape(places.config)}). Run `cloxy init`."
        yield f"server   {output.escape(_server(state))}"
        return
    yield output.bold(output.escape(choice.name))
    rows: list[tuple[str, str]] = [("from", choice.source)]
    if choice.model and choice.model != choice.name:
        rows.append(("model", choice.model))
    if choice.path is not None:
        rows.append(("path", choice.path))
    if state.model is not None:
        rows.append(("files", _files(state)))
        rows.append(("kind", f"{choice.format}, {state.model.architecture}"))
    if choice.load_gb is not None:
        context = f", with {choice.context_tokens:,} tokens" if choice.context_tokens else ""
        rows.append(("memory", f"about {choice.load_gb:.1f} GB{context}"))
    if state.manifest is not None:
        licence = f", licence {state.manifest.licence}" if state.manifest.licence else ""
        rows.append(("commit", f"{state.manifest.commit[:12]}{licence}"))
    needs = "" if state.install is None else f"; not installed yet: {state.install}"
    rows += [("runs in", f"{state.backend}{needs}"), ("choice", str(places.config))]
    rows.append(("server", _server(state)))
    yield from output.table(rows, indent="  ")


def _files(state: ModelState) -> str:
    assert state.model is not None
    count = len(state.model.files)
    words = counted(count, "file")
    whole = "not whole" if state.problems else "every digest is right" if state.checked else "whole"
    return f"{words} with weights, {fields.size(state.model.size)}, {whole}"


def _server(state: ModelState) -> str:
    says = state.server
    if not says.running:
        return "does not run"
    if says.trouble:
        return f"could not be asked: {says.trouble}"
    return f"answers with {says.model}" if says.model else "has no model that it could answer with"


def as_object(state: ModelState, places: Places) -> dict[str, object]:
    """Everything for `--json`."""
    model, manifest = state.model, state.manifest
    return {
        "choice": None if state.choice is None else choice_object(state.choice),
        "config": str(places.config),
        "files": []
        if model is None
        else [{"path": str(each), "size": each.stat().st_size} for each in model.files],
        "architecture": None if model is None else model.architecture,
        "trained_context_tokens": None if model is None else model.context_tokens,
        "repo": None if manifest is None else manifest.repo,
        "commit": None if manifest is None else manifest.commit,
        "licence": None if manifest is None else manifest.licence,
        "whole": None if state.choice is None else not state.problems,
        "checked": state.checked,
        "problems": list(state.problems),
        "backend": state.backend or None,
        "install": state.install,
        "server": state.server.as_object(),
    }
