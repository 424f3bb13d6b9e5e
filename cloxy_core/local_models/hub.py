"""The file API of the Hugging Face hub: what a repository holds, and the way to its files.

A listing pins a commit, so that all files of a model come from the same one. The token goes to the
hub's own address and nowhere else: files themselves come from other hosts, by redirects.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import quote, urljoin, urlsplit

import httpx2

from cloxy_core import __version__
from cloxy_core.local_models.hub_errors import bad_answer, refusal, unreachable
from cloxy_core.local_models.repo_name import is_repo_id, is_safe_path
from cloxy_hookspecs.errors import ConfigError, FetchError

ENDPOINT: Final = "https://huggingface.co"
_MAX_REDIRECTS: Final = 6
_MAX_PAGES: Final = 50
_MAX_JSON: Final = 32 * 1024 * 1024
_TIMEOUT: Final = httpx2.Timeout(connect=15.0, read=60.0, write=30.0, pool=30.0)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a repository.

    Attributes:
        path: its name, with folders.
        size: bytes.
        sha256: digest of its contents, in hexadecimal digits; None for a small file.
        blob: git's digest of a small file (SHA-1 of a header and its contents).
    """

    path: str
    size: int
    sha256: str | None
    blob: str


@dataclass(frozen=True, slots=True)
class Listing:
    """A repository at one commit.

    Attributes:
        repo: its id, the present one where it was renamed.
        commit: the commit.
        licence: as its page names it; empty when it does not.
        files: its files whose names are safe.
    """

    repo: str
    commit: str
    licence: str
    files: tuple[HubFile, ...]


class Hub:
    """Asks one hub; to be closed."""

    def __init__(
        self, endpoint: str = "", token: str = "", *, timeout: httpx2.Timeout = _TIMEOUT
    ) -> None:
        """Make a client, which takes proxies from the environment.

        Args:
            endpoint: address of the hub or of a mirror; empty for Hugging Face.
            token: access token; empty for none.
            timeout: time limits of each step.

        Raises:
            ConfigError: the address cannot be used.
        """
        self.endpoint = (endpoint or ENDPOINT).rstrip("/")
        parts = urlsplit(self.endpoint)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
            raise ConfigError(
                f"HF_ENDPOINT is no address of a hub: {endpoint}",
                hint=f"set it to one such as {ENDPOINT}, or unset it",
            )
        if any(not 0x21 <= ord(character) <= 0x7E for character in token):
            raise ConfigError("HF_TOKEN holds characters that no token has", hint="set it anew")
        self._token = token
        self._client = httpx2.Client(
            timeout=timeout,
            trust_env=True,
            follow_redirects=False,
            headers={"User-Agent": f"cloxy/{__version__}", "Accept-Encoding": "identity"},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def page(self, repo: str) -> str:
        """Address of a repository's page, for people."""
        return f"{self.endpoint}/{repo}"

    def listing(self, repo: str, revision: str = "main") -> Listing:
        """What a repository holds.

        Raises:
            NotFoundError: there is no such repository or revision.
            AuthError: it needs a token, or its licence has to be accepted.
            FetchError: the hub cannot be reached or answers something else.
        """
        place = f"{self.endpoint}/api/models/{repo}/revision/{quote(revision, safe='')}"
        about = self._json(place, repo)[0]
        if not isinstance(about, dict):
            raise bad_answer(self.endpoint, "no JSON object")
        commit = about.get("sha")
        if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
            raise bad_answer(self.endpoint, "no commit")
        name = about.get("id")
        present = name if isinstance(name, str) and is_repo_id(name) else repo
        return Listing(
            repo=present,
            commit=commit,
            licence=_licence(about),
            files=tuple(self._files(present, commit)),
        )

    def _files(self, repo: str, commit: str) -> Iterator[HubFile]:
        place: str | None = f"{self.endpoint}/api/models/{repo}/tree/{commit}?recursive=true"
        for _ in range(_MAX_PAGES):
            if place is None:
                return
            entries, place = self._json(place, repo)
            if not isinstance(entries, list):
                raise bad_answer(self.endpoint, "no list of files")
            for entry in entries:
                found = _file_of(entry)
                if found is not None:
                    yield found
        if place is not None:
            raise FetchError(f"{repo} has too many files", hint="choose another repository")

    def _json(self, place: str, repo: str) -> tuple[Any, str | None]:
        """The JSON of an answer, and the address of the next page."""
        try:
            with self.open(place, repo) as response:
                data = bytearray()
                for piece in response.iter_bytes():
                    data += piece
                    if len(data) > _MAX_JSON:
                        raise bad_answer(self.endpoint, "too much of it")
                following = response.links.get("next", {}).get("url")
                value = httpx2.Response(200, content=bytes(data)).json()
        except httpx2.HTTPError as error:
            raise unreachable(self.endpoint, error) from error
        except ValueError as error:
            raise bad_answer(self.endpoint, "no JSON") from error
        if following is None:
            return value, None
        following = self._next(place, following)
        if not self._is_hub(following):
            raise bad_answer(self.endpoint, "a next page on another host")
        return value, following

    def file_address(self, listing: Listing, file: HubFile) -> str:
        """Address of a file at the commit of the listing."""
        return f"{self.endpoint}/{listing.repo}/resolve/{listing.commit}/{quote(file.path)}"

    @contextmanager
    def open(
        self, place: str, repo: str, headers: Mapping[str, str] | None = None
    ) -> Iterator[httpx2.Response]:
        """Ask for something, following redirects; the answer has a status below 300, or 416.

        Raises:
            NotFoundError: it is not there.
            AuthError: it needs a token, or its licence has to be accepted.
            FetchError: another refusal, or redirects that lead nowhere.
            httpx2.HTTPError: the connection failed.
        """
        for _ in range(_MAX_REDIRECTS):
            sent = dict(headers or {})
            if self._token and self._is_hub(place):
                sent["Authorization"] = f"Bearer {self._token}"
            with self._client.stream("GET", place, headers=sent) as response:
                if response.status_code not in _REDIRECTS:
                    if response.status_code >= 300 and response.status_code != 416:
                        raise refusal(response, repo, self.page(repo), has_token=bool(self._token))
                    yield response
                    return
                place = self._next(place, response.headers.get("location"))
        raise FetchError(f"the hub at {self.endpoint} redirects in a circle", hint="try again")

    def _next(self, place: str, target: str | None) -> str:
        following = _joined(place, target)
        if following is None:
            raise bad_answer(self.endpoint, "a redirect to nowhere")
        if following.startswith("http:") and urlsplit(place).scheme == "https":
            raise bad_answer(self.endpoint, "a redirect to an unencrypted address")
        return following

    def _is_hub(self, place: str) -> bool:
        """Whether an address is the hub's own: same scheme, host and port."""
        return _origin(place) == _origin(self.endpoint)


def _joined(place: str, target: str | None) -> str | None:
    """Where a redirect leads; None when it leads nowhere."""
    if not target:
        return None
    try:
        following = urljoin(place, target)
        parts = urlsplit(following)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        httpx2.URL(following)
    except (ValueError, httpx2.InvalidURL):
        return None
    return following if usable else None


def _origin(place: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(place)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _licence(about: Mapping[str, object]) -> str:
    card = about.get("cardData")
    value = card.get("license") if isinstance(card, dict) else None
    return value if isinstance(value, str) else ""


def _file_of(entry: object) -> HubFile | None:
    """A file of a listing; None for what is no file, has an unsafe name or no digest."""
    if not isinstance(entry, dict) or entry.get("type") != "file":
        return None
    path, size, blob = entry.get("path"), entry.get("size"), entry.get("oid")
    lfs = entry.get("lfs")
    digest = None
    if isinstance(lfs, dict):
        digest, size = lfs.get("oid"), lfs.get("size", size)
        if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
            return None
    if not isinstance(path, str) or not is_safe_path(path):
        return None
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        return None
    if not isinstance(blob, str) or not _COMMIT.fullmatch(blob):
        return None
    return HubFile(path=path, size=size, sha256=digest, blob=blob)
