"""A server that is stopped while an endpoint works: its client is told in words that it reads."""

import json
import shutil
import threading
import time
from pathlib import Path

from server.live_server import PATIENCE, LiveServer


def test_who_is_cut_off_is_told_so(tmp_path, monkeypatch):
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    shutil.copy(Path(__file__).with_name("endpoint_plugin.py"), plugins / "places.py")
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = {"CLOXY_PLUGINS_DIR": str(plugins), "CLOXY_EMBED_PROVIDER": "none"}
    with LiveServer(tmp_path, **settings) as server:
        asked = server.connection()
        asked.request("POST", "/v9/wait", b"{}", {"Content-Type": "application/json"})
        notes = server.data / "notes.txt"
        deadline = time.monotonic() + PATIENCE
        while not notes.exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        answer = asked.getresponse()
        body = json.loads(answer.read())
        stopping.join()
    assert answer.status == 503
    assert (body["type"], body["error"]["code"]) == ("error", "stopping")
    assert notes.read_text().split() == ["began", "cancelled"]
