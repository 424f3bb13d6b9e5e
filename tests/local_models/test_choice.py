"""The file that says which model was chosen."""

import json
import stat

import pytest

from cloxy_core.local_models.choice import read_choice, write_choice
from cloxy_hookspecs.errors import ConfigError
from cloxy_hookspecs.types.llm import ModelChoice

GGUF = ModelChoice(
    name="Qwen3 4B",
    format="gguf",
    source="org/name",
    path="/models/org--name/x.gguf",
    load_gb=3.5,
    context_tokens=8192,
)
MLX = ModelChoice(name="M", format="mlx", source="org/m", path="/models/org--m", load_gb=1.0)
HTTP = ModelChoice(name="llama", format="http", source="http://127.0.0.1:11434/v1", model="llama")


@pytest.mark.parametrize("choice", [GGUF, MLX, HTTP], ids=lambda c: c.format)
def test_what_is_written_is_read(tmp_path, choice):
    path = tmp_path / "new" / "config.json"
    write_choice(path, choice)
    assert read_choice(path) == choice
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["config.json"]


def test_no_file_is_no_choice(tmp_path):
    assert read_choice(tmp_path / "config.json") is None
    (tmp_path / "config.json").write_text('{"other": 1}')
    assert read_choice(tmp_path / "config.json") is None


def test_a_file_of_cloxy_5_is_an_mlx_model_known_by_its_id(tmp_path):
    path = tmp_path / "config.json"
    old = {
        "model_short_name": "Qwen 2.5 7B",
        "model_hf_id": "mlx-community/Qwen2.5-7B-Instruct-4bit",
        "model_load_gb": 5.0,
    }
    path.write_text(json.dumps(old))
    found = read_choice(path)
    assert found == ModelChoice(
        name="Qwen 2.5 7B",
        format="mlx",
        source=old["model_hf_id"],
        path=old["model_hf_id"],
        load_gb=5.0,
    )


def test_the_keys_of_cloxy_5_stay_readable_and_those_of_others_stay(tmp_path):
    path = tmp_path / "config.json"
    path.write_text('{"theirs": {"a": [1]}, "base_url": "http://127.0.0.1:1", "model": "x"}')
    write_choice(path, MLX)
    written = json.loads(path.read_text())
    assert written == {
        "theirs": {"a": [1]},
        "model_short_name": "M",
        "model_hf_id": "org/m",
        "model_load_gb": 1.0,
        "format": "mlx",
        "path": "/models/org--m",
    }
    write_choice(path, HTTP)
    assert json.loads(path.read_text())["theirs"] == {"a": [1]}
    assert "path" not in json.loads(path.read_text())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no JSON at line 1, column 2"),
        ("[1]", "holds no JSON object"),
        ('{"format": "onnx"}', "format in"),
        ('{"format": "gguf", "model_hf_id": "a/b"}', "path in"),
        ('{"format": "http"}', "base_url in"),
        ('{"model_hf_id": 3}', "model_hf_id in"),
        ('{"model_hf_id": "a/b", "model_load_gb": "big"}', "model_load_gb in"),
        ('{"model_hf_id": "a/b", "model_load_gb": NaN}', "model_load_gb in"),
        ('{"model_hf_id": "a/b", "context_tokens": 0}', "context_tokens in"),
        ('{"model_hf_id": "a/b", "context_tokens": true}', "context_tokens in"),
        ("[" * 100_000, "no JSON"),
        (" " * (1024 * 1024 + 1), "larger than"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path, text, says):
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_choice(path)
    assert says in caught.value.message
    assert str(path) in caught.value.message
    assert caught.value.hint


def test_a_damaged_file_is_not_overwritten(tmp_path):
    path = tmp_path / "config.json"
    path.write_bytes(b"\xff\xfe broken")
    with pytest.raises(ConfigError):
        write_choice(path, GGUF)
    assert path.read_bytes() == b"\xff\xfe broken"


def test_a_folder_in_its_place_is_told(tmp_path):
    (tmp_path / "config.json").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        read_choice(tmp_path / "config.json")
