"""Which file system a folder lies on, from the table of mounts."""

import os

import pytest

from cloxy_core.store import filesystem
from cloxy_core.store.filesystem import file_system, is_shared

MOUNTS = r"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:40 / /home/pat rw shared:5 - nfs4 server:/home rw
31 30 0:41 / /home/pat/local rw - btrfs /dev/vdb rw
32 22 0:42 / /mnt/my\040share rw - cifs //server/share rw
33 22 0:43 / /over rw - nfs old rw
34 22 0:44 / /over rw - xfs new rw
35 22 0:45 / /home/patricia rw - fuse.sshfs host: rw
"""


@pytest.mark.skipif(os.name != "posix", reason="paths are POSIX's")
@pytest.mark.parametrize(
    ("folder", "name", "shared"),
    [
        ("/srv/data", "ext4", False),
        ("/home/pat/.cloxy", "nfs4", True),
        ("/home/pat", "nfs4", True),
        ("/home/pat/local/x", "btrfs", False),
        ("/home/patricia/x", "fuse.sshfs", True),
        ("/home/patrick/x", "ext4", False),
        ("/mnt/my share/x", "cifs", True),
        ("/over/x", "xfs", False),
    ],
)
def test_the_innermost_and_newest_mount_counts(tmp_path, folder, name, shared):
    table = tmp_path / "mountinfo"
    table.write_text(MOUNTS)
    assert file_system(folder, table) == name
    assert is_shared(name) is shared


def test_without_a_table_nothing_is_known_and_nothing_is_said(tmp_path):
    assert file_system(tmp_path, tmp_path / "none") == ""
    assert not is_shared("")
    assert not is_shared("fuseblk")


def test_a_shared_place_is_warned_of(tmp_path, monkeypatch):
    monkeypatch.setattr(filesystem, "file_system", lambda folder: "nfs4")
    (warning,) = filesystem.warnings(tmp_path)
    assert "nfs4" in warning
    assert "CLOXY_DATA_DIR" in warning
