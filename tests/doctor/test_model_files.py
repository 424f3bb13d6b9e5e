"""A model that is missing, half-written or another is told by its check, without loading it."""

import asyncio
import hashlib
import json

import pytest

from cloxy_core.testing.harness import App
from cloxy_hookspecs import ModelMissingError
from cloxy_plugins.minilm import check as module
from cloxy_plugins.minilm.check import ModelFilesCheck, create_check, look_at


@pytest.fixture
def folder(tmp_path):
    files = {"model.onnx": b"network" * 100, "tokenizer.json": b"{}"}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    manifest = {
        "revision": "1",
        "dimensions": 4,
        "max_tokens": 8,
        "files": {
            name: {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
            for name, data in files.items()
        },
    }
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    return tmp_path


def find(folder):
    async def blocking(work):
        return work()

    (finding,) = asyncio.run(ModelFilesCheck(lambda: look_at(folder), blocking).run())
    return finding


def test_a_whole_model(folder):
    finding = find(folder)
    assert (finding.severity, finding.message[:5]) == ("ok", "the 2")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "manifest.json"])
def test_a_missing_file(folder, name):
    (folder / name).unlink()
    finding = find(folder)
    assert finding.severity == "warning"
    assert f"{folder / name} is missing" in finding.message
    assert "pip install" in finding.message


def test_a_half_written_file(folder):
    path = folder / "model.onnx"
    path.write_bytes(path.read_bytes()[:350])
    assert "350 of 700 bytes" in find(folder).message


def test_one_changed_byte(folder):
    path = folder / "model.onnx"
    path.write_bytes(b"N" + path.read_bytes()[1:])
    finding = find(folder)
    assert finding.severity == "warning"
    assert "another hash" in finding.message


def test_the_plugin_yields_it_and_the_files_that_come_with_cloxy_are_whole(tmp_path):
    with App(tmp_path) as app:
        names = app.engine.checks.results()
        assert "minilm-files" in {result["name"] for result in names}
        (finding,) = app.do(create_check(app.context).run())
    assert finding.severity == "ok", finding.message


def test_a_deleted_model_is_told_by_the_server_and_the_doctor(patient, monkeypatch, tmp_path):
    empty = tmp_path / "gone"
    empty.mkdir()
    monkeypatch.setattr(module, "DATA", empty)
    report = patient.examine()
    assert report.well
    assert not report.clean
    (problem,) = [p for p in report.problems if p.name == "check"]
    assert "recall goes by words alone" in problem.message
    with patient.server() as server:
        server.do(server.engine.checks.run())
        assert server.engine.checks.healthy()
        told = {r["name"]: r for r in server.engine.checks.results()}["minilm-files"]
    assert told["severity"] == "warning"
    assert "manifest.json is missing" in told["message"]


def test_a_folder_that_is_no_model(tmp_path):
    with pytest.raises(ModelMissingError):
        module._other(tmp_path)
