"""Precision and recall of text blocks on the labelled pages, for Cloxy and two libraries.

    python -m venv /tmp/peers
    /tmp/peers/bin/python -m pip install --upgrade 'pip>=26'
    /tmp/peers/bin/python -m pip install readability-lxml lxml_html_clean trafilatura \\
        html-to-markdown
    python benchmarks/extraction/quality.py --peers /tmp/peers/bin/python

The libraries run in an environment of their own; readability-lxml gives HTML, of which the same
converter that Cloxy uses makes Markdown. `--half open` is for tuning, and shows what is missed;
`blind` is measured once and is in neither of the others.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

PAGES = Path(__file__).parent / "pages"
LABEL = re.compile(r' data-want="(yes|no|code|table)"')
WORD = re.compile(r"\w+")
CONVERSIONS = 4
URL = "https://pages.example/a/page.html"
NAMES = ("cloxy", "readability-lxml", "trafilatura")

PEER = """
import json, sys
from html_to_markdown import convert, ConversionOptions
from readability import Document
import trafilatura
options = ConversionOptions(extract_metadata=False)
pages = json.load(sys.stdin)
def readability(page):
    try:
        found = Document(page)
        text = convert(found.summary(), options).content or ""
        return "# " + found.short_title() + "\\n" + text
    except Exception:
        return ""
def trafila(page):
    return trafilatura.extract(page, output_format="markdown", include_tables=True,
        include_comments=True, include_formatting=True) or ""
json.dump({"readability-lxml": [readability(p) for p in pages],
           "trafilatura": [trafila(p) for p in pages]}, sys.stdout)
"""


@dataclass
class Block:
    want: str
    text: str
    rows: tuple[str, ...] = ()


@dataclass
class Page:
    half: str
    kind: str
    name: str
    html: str
    blocks: list[Block]


@dataclass
class Count:
    wanted: int = 0
    found: int = 0
    unwanted: int = 0
    code: list[int] = field(default_factory=lambda: [0, 0])
    tables: list[int] = field(default_factory=lambda: [0, 0])

    @property
    def recall(self):
        return self.found / self.wanted if self.wanted else 1.0

    @property
    def precision(self):
        kept = self.found + self.unwanted
        return self.found / kept if kept else 0.0

    @property
    def f1(self):
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def load(path):
    """A page without its labels, and the blocks that they told."""
    from selectolax.lexbor import LexborHTMLParser

    html = path.read_text(encoding="utf-8")
    blocks = []
    for node in LexborHTMLParser(html).css("[data-want]"):
        want = str(node.attributes["data-want"])
        rows = tuple(
            " ".join(cell.text(separator="") for cell in row.css("th,td")) for row in node.css("tr")
        )
        separator = "" if want == "code" else " "
        text = node.text(separator=separator).strip("\n").replace("¶", "")
        blocks.append(Block(want, text, rows if want == "table" else ()))
    half, kind = path.parts[-3:-1]
    return Page(half, kind, path.stem, LABEL.sub("", html), blocks)


def words(text):
    return WORD.findall(unescape(text).lower())


def runs(tokens, length):
    return {tuple(tokens[i : i + length]) for i in range(len(tokens) - length + 1)}


class Output:
    """What an extractor made, ready to be searched."""

    def __init__(self, text):
        # Emphasis and code marks are no words; links are their text.
        text = re.sub(r"\]\([^)\s]*\)", "]", text)
        self.raw = text
        self.lines = [words(line.replace("`", "")) for line in text.splitlines()]
        self.tokens = words(text.replace("`", "").replace("\\", ""))
        self.joined = " " + " ".join(self.tokens) + " "
        self.fours = runs(self.tokens, 4)

    def has(self, block):
        tokens = words(block.text)
        if len(tokens) < 8:
            return f" {' '.join(tokens)} " in self.joined
        wanted = runs(tokens, 4)
        return len(wanted & self.fours) >= 0.75 * len(wanted)

    def has_code(self, block):
        """Every line, in order, with its indentation against that of the first."""
        lines = [line.rstrip() for line in block.text.splitlines() if line.strip()]
        made = [line.rstrip() for line in unescape(self.raw).splitlines() if line.strip()]
        for start, line in enumerate(made):
            if not line.endswith(lines[0].lstrip()):
                continue
            shift = len(line) - len(lines[0])
            there = made[start : start + len(lines)]
            if [each[shift:] if shift > 0 else each for each in there] == lines:
                return True
        return False

    def has_table(self, block):
        wanted = [words(row) for row in block.rows]
        return all(any(row == line for line in self.lines) for row in wanted)


def score(page, text, count, misses=None):
    output = Output(text)
    for block in page.blocks:
        there = output.has(block)
        if block.want == "no":
            count.unwanted += there
            if there and misses is not None:
                misses.append(f"kept   {page.kind}/{page.name}: {block.text[:70]!r}")
            continue
        count.wanted += 1
        count.found += there
        intact = there
        for kind, sums, check in (
            ("code", count.code, output.has_code),
            ("table", count.tables, output.has_table),
        ):
            if block.want == kind:
                intact = check(block)
                sums[0] += intact
                sums[1] += 1
        if not (there and intact) and misses is not None:
            misses.append(f"missed {page.kind}/{page.name} ({block.want}): {block.text[:70]!r}")


def ours(pages):
    """Through the real functions, as the worker calls them."""
    from cloxy_core.services.web.chain import run
    from cloxy_plugins.web.plugin import cloxy_extractors, cloxy_sanitizers

    def records(found, mode=None):
        return [
            {"name": each.name, "target": each.target, "extra": each.extra}
            for each in sorted(found, key=lambda each: each.order)
            if any("text/html".startswith(t) for t in each.media_types)
            and (mode is None or mode in each.modes)
        ]

    made = []
    for page in pages:
        job = {"url": URL, "media_type": "text/html", "text": page.html, "data": "",
               "mode": "markdown", "selector": None,
               "sanitizers": records(cloxy_sanitizers()),
               "extractors": records(cloxy_extractors(), "markdown")}  # fmt: skip
        made.append(run(job).get("text", ""))
    return made


def peers(python, pages):
    run = subprocess.run(
        [python, "-c", PEER], input=json.dumps([page.html for page in pages]),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(run.stdout)


def table(title, pages, made, misses=None):
    print(f"\n## {title}: {len(pages)} pages\n")
    print("| kind | " + " | ".join(f"{name}: P / R / F1" for name in made) + " |")
    print("|---|" + "---|" * len(made))
    sums = {name: defaultdict(Count) for name in made}
    for name, texts in made.items():
        for page, text in zip(pages, texts, strict=True):
            for key in (page.kind, "all"):
                wants = misses if name == "cloxy" and key != "all" else None
                score(page, text, sums[name][key], wants)
    worse = []
    for kind in [*sorted({page.kind for page in pages}), "all"]:
        counts = {name: sums[name][kind] for name in made}
        cells = [f"{c.precision:.2f} / {c.recall:.2f} / {c.f1:.2f}" for c in counts.values()]
        print(f"| {kind} | " + " | ".join(cells) + " |")
        for what in ("precision", "recall", "f1"):
            best = max((getattr(c, what) for n, c in counts.items() if n != "cloxy"), default=0)
            if getattr(counts["cloxy"], what) < best and kind != "all":
                worse.append(f"{kind} ({what})")
    for what in ("code", "tables"):
        cells = ["{} of {}".format(*getattr(sums[name]["all"], what)) for name in made]
        print(f"| {what} intact | " + " | ".join(cells) + " |")
    print(f"\nworse than the better of the two libraries: {', '.join(worse) or 'nowhere'}")
    return worse


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", help="Python with the two libraries; without it, only Cloxy")
    parser.add_argument("--half", choices=("open", "held-out", "blind", "both"), default="both")
    arguments = parser.parse_args()
    everything = [load(path) for path in sorted(PAGES.glob("*/*/*.html"))]
    worse = []
    wanted = ("open", "held-out") if arguments.half == "both" else (arguments.half,)
    for half in wanted:
        pages = [page for page in everything if page.half == half]
        begun = time.perf_counter()
        made = {"cloxy": ours(pages)}
        spent = (time.perf_counter() - begun) * 1_000 / len(pages)
        if arguments.peers:
            made |= peers(arguments.peers, pages)
        misses = [] if half == "open" else None
        worse += table(half, pages, made, misses)
        print(f"{spent:.1f} ms a page for Cloxy, imports included")
        if arguments.half == "open":
            print("\n".join(misses))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
