"""Outputs of the operations on pages as text for a model: plain; the door puts a fence around."""

from cloxy_plugins.web.operations_models import (
    PassageMatch,
    ReadOutput,
    SearchOutput,
    VerifiedPage,
    VerifyOutput,
)

NO_TEXT = "There is no text in this page."
RULE = "\n---\n"


def read(output: ReadOutput) -> str:
    """`[address · N chars]`, then the text, or so much of it as is shown."""
    head = f"[{one_line(output.final_url)} · {output.length} chars]"
    body = "".join(output.parts) if output.parts or output.length else NO_TEXT
    return "\n".join([head, *_notes(output.notes), body])


def searched(output: SearchOutput) -> str:
    """The lines found, with what stands around them; or that there are none."""
    notes = _notes(output.notes)
    if not output.total_matches:
        found = f"Nothing in {one_line(output.final_url)} matches {one_line(output.pattern)}"
        return "\n".join([found, *notes])
    lines = "line matches" if output.total_matches == 1 else "lines match"
    head = f"{output.total_matches} {lines} in {one_line(output.final_url)}"
    if output.next_offset is not None:
        head += f"; the first {output.next_offset} are shown"
    contexts = [f"(line {match.line + 1})\n{match.context}" for match in output.matches]
    return "\n".join([head, *notes, RULE.join(contexts)])


def verified(output: VerifyOutput) -> str:
    """The claim, the sources, and the passages with similarity and position; no verdict."""
    parts = [f"Claim: {one_line(output.claim)}"]
    parts += [_source(page) for page in output.pages]
    parts += _notes([output.note] if output.note else [])
    several = len(output.pages) > 1
    parts += [_passage(match, several=several) for match in output.matches]
    if not output.matches:
        parts.append("No passages to show.")
    return "\n\n".join(parts)


def one_line(text: str) -> str:
    """A text without line breaks and doubled spaces."""
    return " ".join(text.split())


def _notes(notes: list[str]) -> list[str]:
    return [f"Note: {one_line(note)}" for note in notes]


def _source(page: VerifiedPage) -> str:
    words = f"Source: {one_line(page.final_url or page.url)}"
    if page.error is not None:
        return f"{words} (not read: {one_line(page.error.message)})"
    return f"{words} ({page.chunks} {'passage' if page.chunks == 1 else 'passages'})"


def _passage(match: PassageMatch, *, several: bool) -> str:
    near = (
        f"{match.overlap:.0%} of the words"
        if match.similarity is None
        else f"similarity {match.similarity:.4f}"
    )
    head = f"({near}, at {match.position_pct:g}%"
    if several:
        head += f", {one_line(match.url)}"
    lines = [f"{head})", match.passage]
    lines += [
        f"Differs: the claim has {one_line(figure.claim)}, the passage "
        f"{', '.join(one_line(text) for text in figure.page)}"
        for figure in match.figures
        if figure.status == "different"
    ]
    return "\n".join(lines)
