"""What matters in session logs of Claude Code, for `mutations.py`.

What is said in them is counted by `../samples_check.py`.
"""

MATTERS = frozenset(
    {"type", "subtype", "message", "content", "text", "attachment", "summary", "prUrl"}
    | {"commandMode", "prompt", "condition", "planContent", "isMeta", "isCompactSummary"}
    | {"origin", "kind", "promptSource", "isSidechain", "agentId"}
)
