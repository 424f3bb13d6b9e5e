"""The page at `/`: what this is and how it is, in plain HTML without a script."""

from collections.abc import Mapping
from html import escape

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Cloxy</title></head>
<body>
<h1>Cloxy {version}</h1>
<p>Memory of your AI coding sessions, kept on this machine.</p>
<dl>
{facts}
</dl>
<p>Ask it: <code>cloxy recall "what did we decide about the cache"</code></p>
</body>
</html>
"""


def banner(version: str, facts: Mapping[str, object]) -> str:
    """The page.

    Args:
        version: version of Cloxy.
        facts: the body of `/health`; empty for a caller who may not see it.
    """
    watcher = facts.get("watcher")
    running = isinstance(watcher, Mapping) and bool(watcher.get("running"))
    shown = (
        {
            "Port": facts.get("port"),
            "Memories": facts.get("memories"),
            "Key": facts.get("auth"),
            "Watcher": "on" if running else "off",
        }
        if facts
        else {}
    )
    rows = "\n".join(
        f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>" for name, value in shown.items()
    )
    return PAGE.format(version=escape(version), facts=rows)
