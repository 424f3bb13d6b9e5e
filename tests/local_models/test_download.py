"""Downloads over real sockets: resumed, checked, refused; and what a kill leaves behind."""

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import httpx2
import pytest
from local_models.hub_stand_in import wait_until
from local_models.model_files import mlx_files

from cloxy_core.local_models import storage
from cloxy_core.local_models.choosing_files import files_for
from cloxy_core.local_models.download import Downloader
from cloxy_core.local_models.hub import Hub
from cloxy_core.local_models.part_file import PartFile
from cloxy_core.local_models.storage import LOCK, MANIFEST, read_manifest
from cloxy_hookspecs.errors import ConfigError, ConflictError, FetchError, StoreFullError

REPO = "org/model-GGUF"
NAME = "m-Q4_K_M.gguf"
DATA = b"GGUF" + os.urandom(2_999_996)


class World:
    def __init__(self, stand_in, hub, folder):
        self.stand_in, self.hub, self.folder = stand_in, hub, folder
        self.pauses, self.told = [], []
        stand_in.add(REPO, {NAME: DATA, "README.md": b"# hello"})

    def get(self, *, hub=None, repo=REPO, kind="gguf"):
        hub = hub or self.hub
        listing = hub.listing(repo)
        files = files_for(listing, kind, None)
        downloader = Downloader(
            hub, listing, self.folder, self.told.append, sleep=self.pauses.append
        )
        return downloader.get(files, kind)

    @property
    def target(self):
        return self.folder / NAME

    def parts(self):
        return list(self.folder.glob("*.part"))

    def ranges(self):
        return [headers.get("Range") for _, headers in self.stand_in.asked_cdn]


@pytest.fixture
def world(stand_in, hub, tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    return World(stand_in, hub, folder)


def test_a_download_is_put_in_place_private_and_noted(world):
    assert world.get() == len(DATA)
    assert world.target.read_bytes() == DATA
    assert sorted(each.name for each in world.folder.iterdir()) == [LOCK, MANIFEST, NAME]
    assert stat.S_IMODE(world.target.stat().st_mode) == 0o600
    manifest = read_manifest(world.folder)
    assert (manifest.repo, manifest.format) == (REPO, "gguf")
    assert [(each.path, each.size, each.kind) for each in manifest.files] == [
        (NAME, len(DATA), "sha256")
    ]
    last = world.told[-1]
    assert (last.doing, last.file, last.done, last.total) == (
        "downloading",
        NAME,
        len(DATA),
        len(DATA),
    )


def test_a_second_run_checks_and_gets_nothing(world):
    world.get()
    asked = len(world.stand_in.asked_cdn)
    assert world.get() == 0
    assert len(world.stand_in.asked_cdn) == asked


def test_a_file_that_was_changed_is_got_anew(world):
    world.get()
    world.target.write_bytes(b"x" + DATA[1:])
    assert world.get() == len(DATA)
    assert world.target.read_bytes() == DATA


def test_cut_connections_are_gone_on_with(world):
    world.stand_in.cuts = [1_000_000, 500_000, 0]
    assert world.get() == len(DATA)
    assert world.target.read_bytes() == DATA
    asked = world.ranges()
    assert asked[0] is None
    begun = [int(each.removeprefix("bytes=").removesuffix("-")) for each in asked[1:]]
    assert begun == sorted(begun)
    assert begun[0] > 0
    assert len(world.pauses) == 3


def test_it_gives_up_when_nothing_more_comes_and_keeps_the_part(world):
    world.stand_in.cuts = [1_000_000] + [0] * 10
    with pytest.raises(FetchError, match="cannot be reached"):
        world.get()
    assert not world.target.exists()
    (part,) = world.parts()
    assert 0 < part.stat().st_size <= 1_000_000
    world.stand_in.cuts = []
    kept = part.stat().st_size
    assert world.get() == len(DATA) - kept
    assert world.ranges()[-1] == f"bytes={kept}-"
    assert world.target.read_bytes() == DATA


def test_a_server_without_ranges_is_begun_anew(world):
    world.stand_in.cuts = [1_000_000]
    world.stand_in.no_ranges = True
    world.get()
    assert world.target.read_bytes() == DATA
    assert world.told[-1].done == len(DATA)


def test_a_server_with_wrong_ranges_is_not_trusted(world):
    world.stand_in.cuts = [1_000_000]
    world.stand_in.wrong_range = True
    world.get()
    assert world.target.read_bytes() == DATA


def test_a_slow_server_is_asked_again(world):
    world.stand_in.pause_at = 1_000_000
    quick = httpx2.Timeout(connect=5, read=0.3, write=5, pool=5)
    with Hub(world.stand_in.url, timeout=quick) as hub:

        def wake(seconds):
            world.stand_in.pause_at = None
            world.pauses.append(seconds)

        listing = hub.listing(REPO)
        files = files_for(listing, "gguf", None)
        Downloader(hub, listing, world.folder, world.told.append, sleep=wake).get(files, "gguf")
    assert world.target.read_bytes() == DATA
    assert len(world.pauses) == 1
    assert world.ranges()[-1] is not None


@pytest.mark.parametrize("change", [lambda data: b"x" + data[1:], lambda data: data[::-1]])
def test_other_contents_are_thrown_away(world, change):
    world.stand_in.tamper = change
    with pytest.raises(FetchError, match="not what the hub announced"):
        world.get()
    assert not world.target.exists()
    assert world.parts() == []


def test_another_size_is_refused_before_it_comes(world):
    world.stand_in.tamper = lambda data: data + b"more"
    with pytest.raises(FetchError, match="announced"):
        world.get()
    assert not world.target.exists()


def test_another_digest_is_refused_before_it_comes(world):
    world.stand_in.etag = f'"{"0" * 64}"'
    with pytest.raises(FetchError, match="another"):
        world.get()
    assert not world.target.exists()


def test_a_small_file_is_checked_by_the_digest_of_git(world):
    world.stand_in.add("org/mlx", mlx_files())
    world.get(repo="org/mlx", kind="mlx")
    assert (world.folder / "config.json").read_bytes() == mlx_files()["config.json"]
    world.stand_in.listed["tokenizer.json"] = {"oid": "b" * 40}
    with pytest.raises(FetchError, match="git-sha1"):
        world.get(repo="org/mlx", kind="mlx")


def test_only_what_a_model_needs_is_got(world):
    world.stand_in.add("org/mlx", mlx_files())
    world.get(repo="org/mlx", kind="mlx")
    names = {each.name for each in world.folder.iterdir()} - {LOCK, MANIFEST}
    assert names == set(mlx_files()) - {"README.md", ".gitattributes", "modeling_evil.py"}


def test_too_little_room_is_told_before_anything_comes(world, monkeypatch):
    usage = type("Usage", (), {"free": storage.SPARE_BYTES + len(DATA) - 1})()
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(StoreFullError, match="are free"):
        world.get()
    assert world.stand_in.asked_cdn == []


def test_a_part_of_another_version_is_not_gone_on_with(world):
    world.stand_in.cuts = [1_000_000] + [0] * 10
    with pytest.raises(FetchError):
        world.get()
    other = os.urandom(2_000_000)
    world.stand_in.repos[REPO][NAME] = other
    world.stand_in.cuts = []
    assert world.get() == len(other)
    assert world.target.read_bytes() == other


def test_a_link_in_the_place_of_a_part_is_not_followed(world, tmp_path):
    precious = tmp_path / "precious"
    precious.write_bytes(b"mine")
    world.stand_in.cuts = [1000] + [0] * 10
    with pytest.raises(FetchError):
        world.get()
    (part,) = world.parts()
    part.unlink()
    part.symlink_to(precious)
    world.stand_in.cuts = []
    with pytest.raises(ConfigError):
        world.get()
    assert precious.read_bytes() == b"mine"


def test_a_link_in_the_place_of_a_folder_is_not_followed(world, tmp_path):
    name = f"sub/{NAME}"
    world.stand_in.repos[REPO] = {name: DATA}
    world.stand_in.large.add((REPO, name))
    (tmp_path / "elsewhere").mkdir()
    (world.folder / "sub").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="no folder of its own"):
        world.get()
    assert list((tmp_path / "elsewhere").iterdir()) == []
    (world.folder / "sub").unlink()
    world.get()
    assert (world.folder / name).read_bytes() == DATA


def test_two_downloads_into_one_folder_are_refused(world):
    with storage.only_download(world.folder), pytest.raises(ConflictError, match="at this moment"):
        world.get()


@pytest.mark.parametrize(
    ("number", "kind", "says"),
    [(errno.ENOSPC, StoreFullError, "is full"), (errno.EIO, ConfigError, "cannot be used")],
)
def test_a_disk_that_fails_is_told(world, monkeypatch, number, kind, says):
    def fail(part, data):
        raise OSError(number, "as it goes", str(world.folder))

    with monkeypatch.context() as patch:
        patch.setattr(PartFile, "add", fail)
        with pytest.raises(kind, match=says):
            world.get()
    world.get()
    assert world.target.read_bytes() == DATA


@pytest.mark.process
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_what_a_killed_program_got_is_gone_on_with(world, ending):
    world.stand_in.pause_at = 2_000_000
    script = textwrap.dedent(
        f"""
        from pathlib import Path
        from cloxy_core.local_models.choosing_files import files_for
        from cloxy_core.local_models.download import Downloader
        from cloxy_core.local_models.hub import Hub
        hub = Hub({world.stand_in.url!r})
        listing = hub.listing({REPO!r})
        downloader = Downloader(hub, listing, Path({str(world.folder)!r}), lambda progress: None)
        downloader.get(files_for(listing, "gguf", None), "gguf")
        """
    )
    child = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    try:
        assert world.stand_in.paused.wait(120)
        wait_until(lambda: any(part.stat().st_size > 1_000_000 for part in world.parts()))
    finally:
        child.send_signal(ending)
        child.wait()
    world.stand_in.pause_at = None
    world.stand_in.go_on.set()
    (part,) = world.parts()
    kept = part.stat().st_size
    assert world.get() == len(DATA) - kept
    assert world.target.read_bytes() == DATA
    assert Path(part).exists() is False
