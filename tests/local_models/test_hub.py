"""The hub's file API: listings, redirects, refusals; the token goes to the hub alone."""

import pytest
from local_models.hub_stand_in import COMMIT, TOKEN
from local_models.model_files import mlx_files

from cloxy_core.local_models.hub import Hub
from cloxy_hookspecs.errors import AuthError, ConfigError, FetchError, ForbiddenError, NotFoundError

REPO = "org/model"


@pytest.mark.parametrize("page_size", [2, 100])
def test_a_listing_pins_a_commit_and_comes_in_pages(stand_in, hub, page_size):
    stand_in.add(REPO, mlx_files())
    stand_in.page_size = page_size
    listing = hub.listing(REPO)
    assert (listing.repo, listing.commit, listing.licence) == (REPO, COMMIT, "apache-2.0")
    assert {file.path for file in listing.files} == set(mlx_files())
    large = next(file for file in listing.files if file.path == "model.safetensors")
    assert large.sha256 is not None
    assert large.size == len(mlx_files()["model.safetensors"])


def test_a_renamed_repository_is_found(stand_in, hub):
    stand_in.add("new/name", mlx_files())
    stand_in.renamed[REPO] = "new/name"
    assert hub.listing(REPO).repo == "new/name"


@pytest.mark.parametrize(
    "path",
    [
        "../evil.gguf",
        "/etc/evil.gguf",
        "a/../../evil.gguf",
        "a\\..\\evil.gguf",
        "C:evil.gguf",
        "con.gguf",
        "evil.gguf.",
        "evil\x1b[2J.gguf",
        "evil\u202e.gguf",
        "",
        "x" * 600,
    ],
)
def test_files_with_unsafe_names_are_left_out(stand_in, hub, path):
    stand_in.add(REPO, {"good.gguf": b"x"})
    stand_in.extra = [{"type": "file", "path": path, "size": 1, "oid": "b" * 40}]
    assert [file.path for file in hub.listing(REPO).files] == ["good.gguf"]


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "file", "path": "a", "size": -1, "oid": "b" * 40},
        {"type": "file", "path": "a", "size": True, "oid": "b" * 40},
        {"type": "file", "path": "a", "size": 1, "oid": "no digest"},
        {"type": "file", "path": "a", "size": 1, "oid": "b" * 40, "lfs": {"oid": "x", "size": 1}},
        {"type": "file"},
        "no object",
    ],
)
def test_entries_without_sense_are_left_out(stand_in, hub, entry):
    stand_in.add(REPO, {})
    stand_in.extra = [entry]
    assert hub.listing(REPO).files == ()


def test_what_is_not_there_is_told(stand_in, hub):
    with pytest.raises(AuthError) as caught:  # as the hub answers who has no token
        hub.listing("org/none")
    assert "no such repository" in caught.value.message
    with Hub(stand_in.url, TOKEN) as known, pytest.raises(NotFoundError, match="org/none"):
        known.listing("org/none")


def test_a_gated_repository_says_what_to_do(stand_in, hub):
    stand_in.add(REPO, mlx_files())
    stand_in.gated.add(REPO)
    with pytest.raises(AuthError) as caught:
        hub.listing(REPO)
    assert "HF_TOKEN" in caught.value.hint
    assert f"{stand_in.url}/{REPO}" in caught.value.hint
    with Hub(stand_in.url, "hf_other") as other, pytest.raises(ForbiddenError, match="may not"):
        other.listing(REPO)
    with Hub(stand_in.url, TOKEN) as allowed:
        assert allowed.listing(REPO).files


def test_the_token_goes_to_the_hub_and_never_to_the_host_of_files(stand_in):
    stand_in.add(REPO, {"m.gguf": b"x" * 10})
    with Hub(stand_in.url, TOKEN) as hub:
        listing = hub.listing(REPO)
        with hub.open(hub.file_address(listing, listing.files[0]), REPO) as response:
            assert response.read() == b"x" * 10
    assert len(stand_in.asked) == 3
    assert all(headers["Authorization"] == f"Bearer {TOKEN}" for _, headers in stand_in.asked)
    assert len(stand_in.asked_cdn) == 1
    assert "Authorization" not in stand_in.asked_cdn[0][1]


def test_what_is_no_hub_is_told(stand_in, hub):
    stand_in.add(REPO, {})
    stand_in.commit = "../../evil"
    with pytest.raises(FetchError, match="no hub: no commit"):
        hub.listing(REPO)


def test_redirects_in_a_circle_end(stand_in, hub):
    stand_in.loop = True
    with pytest.raises(FetchError, match="circle"):
        hub.listing(REPO)


def test_a_hub_in_trouble_and_one_that_is_away(stand_in, hub):
    stand_in.busy = 1
    with pytest.raises(FetchError, match="status 503"):
        hub.listing(REPO)
    with Hub("http://127.0.0.1:1") as away, pytest.raises(FetchError) as caught:
        away.listing(REPO)
    assert "cannot be reached" in caught.value.message
    assert "HF_ENDPOINT" in caught.value.hint


@pytest.mark.parametrize("endpoint", ["ftp://x", "huggingface.co", "https://a:b@c", "http://"])
def test_an_endpoint_that_is_none(endpoint):
    with pytest.raises(ConfigError, match="HF_ENDPOINT"):
        Hub(endpoint)


def test_a_token_that_cannot_be_one_is_not_shown():
    with pytest.raises(ConfigError) as caught:
        Hub("http://127.0.0.1:1", "hf_se\nsame")
    assert "same" not in str(caught.value)
