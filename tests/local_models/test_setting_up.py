"""From what was asked for to a choice, on machines that this one is not."""

import pytest
from local_models.model_files import gguf, mlx_files, write

from cloxy_core.local_models.catalogue import load_catalogue
from cloxy_core.local_models.gguf import BadModelFileError
from cloxy_core.local_models.hardware import Hardware
from cloxy_core.local_models.hub import Hub
from cloxy_core.local_models.repo_name import Wanted, parse_wanted
from cloxy_core.local_models.setting_up import Setup
from cloxy_core.local_models.targets import Target, find_target
from cloxy_hookspecs.errors import InputError, NotFoundError

GIB = 1024**3
MAC = Hardware("Apple M9", True, 32 * GIB, free=20 * GIB, gpu_limit=21 * GIB)
PC = Hardware("A processor", False, 16 * GIB, free=12 * GIB)
CATALOGUE = load_catalogue()


@pytest.fixture
def told():
    return []


def set_up(target, hub, data_dir, hardware, told):
    setup = Setup(data_dir, hardware)
    return setup.get(target, setup.plan(target, hub), hub, told.append)


def test_an_mlx_model_on_apple_silicon(stand_in, hub, tmp_path, told):
    stand_in.add("mlx-community/Some-4bit", mlx_files(max_position_embeddings=8192))
    target = find_target("mlx-community/Some-4bit", CATALOGUE, "mlx")
    ready = set_up(target, hub, tmp_path, MAC, told)
    folder = tmp_path / "models" / "mlx-community--Some-4bit"
    assert (ready.choice.format, ready.choice.name) == ("mlx", "Some-4bit")
    assert (ready.choice.path, ready.choice.source) == (str(folder), "mlx-community/Some-4bit")
    assert ready.choice.context_tokens == 8192
    assert Setup(tmp_path, MAC).here(target, told.append) == ready


def test_a_folder_with_a_file_less_is_not_taken_for_whole(stand_in, hub, tmp_path, told):
    stand_in.add("mlx-community/m", mlx_files())
    target = find_target("mlx-community/m", CATALOGUE, "mlx")
    set_up(target, hub, tmp_path, MAC, told)
    (tmp_path / "models" / "mlx-community--m" / "tokenizer.json").unlink()
    assert Setup(tmp_path, MAC).here(target, told.append) is None


def test_a_name_means_the_format_of_the_machine(told):
    assert find_target("Qwen3 4B", CATALOGUE, "mlx").wanted.repo == "mlx-community/Qwen3-4B-4bit"
    gguf_target = find_target("Qwen3 4B", CATALOGUE, "gguf")
    assert gguf_target.wanted == Wanted("Qwen/Qwen3-4B-GGUF", "Qwen3-4B-Q4_K_M.gguf")
    assert gguf_target.entry.name == "Qwen3 4B"


def test_an_id_of_the_catalogue_keeps_its_name_unless_another_file_is_asked_for():
    same = find_target("Qwen/Qwen3-4B-GGUF:Qwen3-4B-Q4_K_M.gguf", CATALOGUE, "gguf")
    assert same.entry.name == "Qwen3 4B"
    other = find_target("Qwen/Qwen3-4B-GGUF:Q8_0", CATALOGUE, "gguf")
    assert (other.entry, other.wanted.selector) == (None, "Q8_0")


def test_a_context_that_fits(stand_in, hub, tmp_path, told):
    shape = [
        ("llama.block_count", 4, (80).to_bytes(4, "little")),
        ("llama.embedding_length", 4, (8192).to_bytes(4, "little")),
        ("llama.attention.head_count", 4, (64).to_bytes(4, "little")),
    ]
    path = write(tmp_path, {"m.gguf": gguf(context=131072, extra=shape)}) / "m.gguf"
    ready = Setup(tmp_path, PC).local(Target(path=path))
    # 80 layers of 64 heads of 128 numbers, twice, of 2 bytes each: 2.6 MB for a token
    assert ready.choice.context_tokens == 8192
    assert ready.choice.load_gb == pytest.approx(2.62144 * 8.192 + 0.3, abs=0.1)
    assert "may be slow, or not load" in ready.notes[-1]


def test_a_machine_that_is_full_at_this_moment_is_told(tmp_path):
    full = Hardware("x", False, 32 * GIB, free=1000)
    path = write(tmp_path, {"m.gguf": gguf()}) / "m.gguf"
    assert "free at this moment" in Setup(tmp_path, full).local(Target(path=path)).notes[-1]


def test_what_is_neither_is_told(stand_in, hub, tmp_path):
    stand_in.add("org/torch", {"pytorch_model.bin": b"x", "config.json": b"{}"})
    with pytest.raises(InputError, match="neither"):
        Setup(tmp_path, PC).plan(find_target("org/torch", CATALOGUE, "gguf"), hub)


@pytest.mark.parametrize("text", ["./none.gguf", "/none", "~/none.gguf"])
def test_a_path_that_is_not_there(text, tmp_path):
    target = find_target(text, CATALOGUE, "gguf")
    with pytest.raises(BadModelFileError, match="there is no"):
        Setup(tmp_path, PC).local(target)


@pytest.mark.parametrize(
    ("text", "repo", "selector"),
    [
        ("org/name", "org/name", None),
        ("org/name:Q4_0", "org/name", "Q4_0"),
        ("org/name:sub/file.gguf", "org/name", "sub/file.gguf"),
        ("https://huggingface.co/org/name", "org/name", None),
        ("hf.co/org/name:Q4_0", "org/name", "Q4_0"),
    ],
)
def test_ids(text, repo, selector):
    assert parse_wanted(text) == Wanted(repo, selector)


@pytest.mark.parametrize("text", ["a/..", "a..b/c", "a--b/c", "a/b.git", "a /b", "a/b:", "é/b"])
def test_what_looks_like_an_id_and_is_none(text):
    with pytest.raises(InputError):
        parse_wanted(text)


@pytest.mark.parametrize("text", ["a" * 5000, "b" * 300, "..."])
def test_a_text_that_no_disk_can_hold(text):
    with pytest.raises(NotFoundError):
        find_target(text, CATALOGUE, "gguf")


def test_a_home_that_is_not_known():
    with pytest.raises(InputError, match="no home"):
        find_target("~nobody-of-this-name/m.gguf", CATALOGUE, "gguf")


def test_a_name_that_is_nearly_one_is_suggested():
    with pytest.raises(NotFoundError) as caught:
        find_target("qwen3-4", CATALOGUE, "gguf")
    assert "Qwen3 4B" in caught.value.hint


def test_a_hub_is_not_asked_for_what_is_here(stand_in, hub, tmp_path, told):
    stand_in.add("org/m-GGUF", {"m-Q4_K_M.gguf": gguf()})
    target = find_target("org/m-GGUF", CATALOGUE, "gguf")
    set_up(target, hub, tmp_path, PC, told)
    with Hub("http://127.0.0.1:1"):
        assert Setup(tmp_path, PC).here(target, told.append).choice.name == "m-Q4_K_M"
    other = find_target("org/m-GGUF:Q8_0", CATALOGUE, "gguf")
    assert Setup(tmp_path, PC).here(other, told.append) is None


def test_a_file_of_the_catalogue_that_was_renamed(stand_in, hub, tmp_path, told):
    stand_in.add("Qwen/Qwen3-4B-GGUF", {"renamed-Q4_K_M.gguf": gguf(), "x-Q8_0.gguf": b"8"})
    ready = set_up(find_target("Qwen3 4B", CATALOGUE, "gguf"), hub, tmp_path, PC, told)
    assert ready.choice.name == "Qwen3 4B"
    assert ready.choice.path.endswith("renamed-Q4_K_M.gguf")
    explicit = find_target("Qwen/Qwen3-4B-GGUF:Q6_K", CATALOGUE, "gguf")
    with pytest.raises(InputError, match="Q6_K"):
        Setup(tmp_path, PC).plan(explicit, hub)
