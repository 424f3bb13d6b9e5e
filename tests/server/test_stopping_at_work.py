"""A server that is stopped while a model works ends as well as any other."""

import shutil
import time
from pathlib import Path

from server.live_server import PATIENCE, LiveServer


def test_a_stop_while_a_model_works_is_a_good_end(tmp_path):
    """A service manager takes any other end for a crash, and starts it again."""
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    shutil.copy(Path(__file__).with_name("busy_embedder.py"), plugins / "busy.py")
    mark = tmp_path / "at work"
    settings = {
        "CLOXY_PLUGINS_DIR": str(plugins),
        "CLOXY_EMBED_PROVIDER": "busy",
        "CLOXY_EMBED_ON_BATTERY": "1",
        "BUSY_MARK": str(mark),
    }
    with LiveServer(tmp_path, **settings) as server:
        server.ask("POST", "/ingest_text", {"text": "something to keep"})
        deadline = time.monotonic() + PATIENCE
        while not mark.exists():
            assert time.monotonic() < deadline, server.errors.read_text()
            time.sleep(0.02)
        code = server.stop()
        said = server.errors.read_text()
        assert code == 0, said
        assert "terminate" not in said
