"""Which files of a repository make a model."""

import pytest

from cloxy_core.local_models.choosing_files import files_for, format_of, quant_of
from cloxy_core.local_models.hub import HubFile, Listing
from cloxy_hookspecs.errors import InputError


def listing(*names):
    files = tuple(HubFile(name, 100 + place, None, "b" * 40) for place, name in enumerate(names))
    return Listing("org/m", "a" * 40, "", files)


def chosen(selector, *names):
    return [file.path for file in files_for(listing(*names), "gguf", selector)]


MANY = (
    "m-BF16.gguf",
    "m-Q2_K.gguf",
    "m-Q4_K_M.gguf",
    "m-Q4_K_S.gguf",
    "m-Q8_0.gguf",
    "mmproj-m-f16.gguf",
    "imatrix.gguf",
    "README.md",
)


def test_the_best_compromise_is_taken():
    assert chosen(None, *MANY) == ["m-Q4_K_M.gguf"]
    assert chosen(None, "m-Q8_0.gguf", "m-BF16.gguf") == ["m-Q8_0.gguf"]
    assert chosen(None, "m.gguf") == ["m.gguf"]


@pytest.mark.parametrize(
    ("selector", "name"),
    [
        ("Q8_0", "m-Q8_0.gguf"),
        ("q4_k_m", "m-Q4_K_M.gguf"),
        ("m-BF16.gguf", "m-BF16.gguf"),
        ("bf16", "m-BF16.gguf"),
    ],
)
def test_a_file_or_a_quantization_can_be_named(selector, name):
    assert chosen(selector, *MANY) == [name]


@pytest.mark.parametrize("selector", ["Q4", "Q6_K", "mmproj", "README.md"])
def test_what_is_not_clear_names_what_is_there(selector):
    with pytest.raises(InputError) as caught:
        chosen(selector, *MANY)
    assert "m-Q4_K_M.gguf" in caught.value.hint
    assert "mmproj" not in caught.value.hint


def test_a_model_in_parts_is_taken_whole_and_in_order():
    parts = [f"Q4_K_M/m-Q4_K_M-0000{number}-of-00003.gguf" for number in (3, 1, 2)]
    assert chosen(None, *parts, "m-Q8_0.gguf") == sorted(parts)
    assert chosen("Q4_K_M", *parts) == sorted(parts)
    assert chosen(None, *parts[:2], "m-Q8_0.gguf") == ["m-Q8_0.gguf"]


@pytest.mark.parametrize(
    ("name", "quant"),
    [
        ("a-Q4_K_M.gguf", "Q4_K_M"),
        ("a.q5_0.gguf", "Q5_0"),
        ("UD-Q4_K_XL/a-UD-Q4_K_XL-00001-of-00002.gguf", "UD-Q4_K_XL"),
        ("gpt-oss-20b-mxfp4.gguf", "MXFP4"),
        ("Qwen3-4B-IQ4_XS.gguf", "IQ4_XS"),
        ("model.gguf", None),
    ],
)
def test_quantizations_are_read_from_names(name, quant):
    assert quant_of(name) == quant


def test_formats_are_recognised():
    assert format_of(listing("m.gguf", "config.json")) == "gguf"
    assert format_of(listing("config.json", "model.safetensors")) == "mlx"
    assert format_of(listing("pytorch_model.bin", "config.json")) is None


@pytest.mark.parametrize(
    "names",
    [("config.json", "tokenizer.json"), ("model.safetensors",), ("config.json", "x.safetensors")],
)
def test_an_mlx_model_with_a_part_missing_is_refused(names):
    with pytest.raises(InputError):
        files_for(listing(*names), "mlx", None)


def test_an_mlx_model_has_no_files_to_choose_from():
    with pytest.raises(InputError, match="one whole"):
        files_for(listing("config.json", "tokenizer.json", "m.safetensors"), "mlx", "Q4")


def test_a_repository_without_gguf_says_what_to_look_for():
    with pytest.raises(InputError) as caught:
        files_for(listing("config.json"), "gguf", None)
    assert "-GGUF" in caught.value.hint
