"""What was downloaded before, and whether it is still whole."""

from collections.abc import Sequence
from pathlib import Path

from cloxy_core.local_models.digests import digest_of
from cloxy_core.local_models.hub import HubFile, Listing
from cloxy_core.local_models.meter import Progress, Tell
from cloxy_core.local_models.storage import Manifest, size_of


def listing_of(manifest: Manifest) -> Listing:
    """What was downloaded, as if it were all that the repository has."""
    files = tuple(
        HubFile(
            path=each.path,
            size=each.size,
            sha256=each.digest if each.kind == "sha256" else None,
            blob=each.digest if each.kind != "sha256" else "",
        )
        for each in manifest.files
    )
    return Listing(manifest.repo, manifest.commit, manifest.licence, files)


def are_whole(folder: Path, manifest: Manifest, files: Sequence[HubFile], tell: Tell) -> bool:
    """Whether files are there with the digests that were noted.

    Args:
        folder: where they lie.
        manifest: what was noted.
        files: some of them.
        tell: is told how far it is.

    Raises:
        OSError: one cannot be read.
    """
    known = {each.path: each for each in manifest.files}
    total = sum(file.size for file in files)
    done = 0
    for file in files:
        each = known[file.path]
        if size_of(folder / file.path) != file.size:
            return False
        tell(Progress("checking", file.path, done, total))
        if digest_of(folder / file.path, each.kind, file.size) != each.digest:
            return False
        done += file.size
    return True
