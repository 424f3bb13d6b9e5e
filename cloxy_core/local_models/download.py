"""Downloading a model: into parts that a later run goes on with, checked, then put in place."""

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import httpx2

from cloxy_core.local_models.catalogue import ModelFormat
from cloxy_core.local_models.digests import digest_of, expected, kind_of
from cloxy_core.local_models.hub import Hub, HubFile, Listing
from cloxy_core.local_models.hub_errors import unreachable
from cloxy_core.local_models.meter import Meter, Tell
from cloxy_core.local_models.part_file import PartFile, part_of
from cloxy_core.local_models.repo_name import safe_path
from cloxy_core.local_models.storage import (
    KnownFile,
    Manifest,
    check_room,
    disk_errors_told,
    make_folder,
    only_download,
    size_of,
    write_manifest,
)
from cloxy_core.runtime.paths import sync_directory
from cloxy_hookspecs.errors import FetchError

_TRIES_WITHOUT_PROGRESS: Final = 4
_LONGEST_PAUSE: Final = 30.0
_RANGE: Final = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_ETAG: Final = re.compile(r'(?:W/)?"?([0-9a-f]{64})"?')


class _CutError(Exception):
    """The answer ended before the file did."""


class Downloader:
    """Gets files of one repository into one folder."""

    def __init__(
        self,
        hub: Hub,
        listing: Listing,
        folder: Path,
        tell: Tell,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Prepare.

        Args:
            hub: the hub.
            listing: the repository at the commit to get.
            folder: folder for its files; it exists.
            tell: is told how far it is.
            sleep: waits before another try.
        """
        self._hub = hub
        self._listing = listing
        self._folder = folder
        self._tell = tell
        self._sleep = sleep

    def missing_bytes(self, files: Sequence[HubFile]) -> int:
        """Bytes that are still to come, by the sizes of what is here."""
        return sum(
            max(0, file.size - (size_of(part_of(self._target(file), file)) or 0))
            for file in files
            if size_of(self._target(file)) != file.size
        )

    def get(self, files: Sequence[HubFile], kind: ModelFormat) -> int:
        """Get files and check them; those that are here are only checked.

        Args:
            files: files of the listing.
            kind: format of the model.

        Returns:
            Bytes that came.

        Raises:
            StoreFullError: they find no room.
            ConflictError: another program downloads into the folder.
            ConfigError: something else is in the place of a file or folder.
            FetchError: the hub cannot be reached, or a file is not what it should be.
            AuthError: a token is needed.
        """
        with disk_errors_told(self._folder), only_download(self._folder):
            check_room(self._folder, self.missing_bytes(files))
            meter = Meter(sum(file.size for file in files), self._tell)
            # Small files first: what is wrong with a repository shows before the long wait.
            came = sum(self._file(file, meter) for file in sorted(files, key=lambda f: f.size))
            known = tuple(
                KnownFile(file.path, file.size, expected(file), kind_of(file)) for file in files
            )
            about = self._listing
            write_manifest(
                self._folder, Manifest(about.repo, about.commit, about.licence, kind, known)
            )
        return came

    def _target(self, file: HubFile) -> Path:
        return self._folder / safe_path(file.path)

    def _file(self, file: HubFile, meter: Meter) -> int:
        target = self._target(file)
        meter.begin("checking", file.path)
        if _is_whole(target, file):
            meter.here(file.size)
            return 0
        for parent in reversed(target.relative_to(self._folder).parents[:-1]):
            make_folder(self._folder / parent)
        with PartFile(part_of(target, file), file) as part:
            meter.here(part.have)
            came = self._complete(file, part, meter)
            part.finish(target)
        sync_directory(target.parent)
        return came

    def _complete(self, file: HubFile, part: PartFile, meter: Meter) -> int:
        """Get the rest of a file, with as many connections as it takes.

        Raises:
            FetchError: nothing more comes.
        """
        came = failures = 0
        while part.have < file.size:
            begun = part.have
            trouble: Exception | None = None
            try:
                self._receive(file, part, meter)
            except (httpx2.HTTPError, _CutError) as error:
                trouble = error
            came += max(0, part.have - begun)
            failures = 0 if part.have > begun else failures + 1
            if trouble is None:
                continue
            if failures >= _TRIES_WITHOUT_PROGRESS:
                raise unreachable(self._hub.endpoint, trouble) from trouble
            meter.begin("waiting", file.path)
            self._sleep(min(_LONGEST_PAUSE, 2.0**failures))
        return came

    def _receive(self, file: HubFile, part: PartFile, meter: Meter) -> None:
        """Read one answer into a part, as far as it goes.

        Raises:
            httpx2.HTTPError: the connection broke.
            _CutError: the answer ended early.
            FetchError: what comes is not the file.
        """
        place = self._hub.file_address(self._listing, file)
        headers = {"Range": f"bytes={part.have}-"} if part.have else {}
        with self._hub.open(place, self._listing.repo, headers) as response:
            _check_etag(file, response)
            if part.have and not _goes_on(response, part.have, file.size):
                # The server has no ranges, or other bytes than we asked for.
                meter.here(-part.have)
                part.restart()
                if response.status_code != 200:
                    raise _CutError("the server did not give what was asked for")
            _check_length(file, response, part.have)
            for piece in response.iter_raw():
                part.add(piece)
                meter.received(len(piece), file.path)
        if part.have < file.size:
            raise _CutError("the answer ended early")


def _is_whole(target: Path, file: HubFile) -> bool:
    """Whether a file is in its place, with the contents that it should have."""
    if size_of(target) != file.size:
        return False
    return digest_of(target, kind_of(file), file.size) == expected(file)


def _goes_on(response: httpx2.Response, have: int, size: int) -> bool:
    """Whether an answer is the rest of the file from where the part ends."""
    if response.status_code != 206:
        return False
    match = _RANGE.fullmatch(response.headers.get("content-range", ""))
    return match is not None and int(match[1]) == have and match[2] in {"*", str(size)}


def _check_etag(file: HubFile, response: httpx2.Response) -> None:
    """Refuse another file before it has come, where the server tells its digest."""
    match = _ETAG.fullmatch(response.headers.get("etag", ""))
    if match is not None and file.sha256 is not None and match[1] != file.sha256:
        raise FetchError(
            f"the hub offers another {file.path} than it announced",
            hint="try again; check HF_ENDPOINT, and whether a proxy stands between",
        )


def _check_length(file: HubFile, response: httpx2.Response, have: int) -> None:
    length = response.headers.get("content-length", "")
    if length.isdigit() and int(length) + have > file.size:
        raise FetchError(
            f"the hub offers {int(length) + have:,} bytes of {file.path} and announced "
            f"{file.size:,}",
            hint="try again; check HF_ENDPOINT, and whether a proxy stands between",
        )
