"""What a hub refused, in words with what to do."""

import httpx2

from cloxy_hookspecs.errors import AuthError, CloxyError, FetchError, ForbiddenError, NotFoundError

_TOKENS = "https://huggingface.co/settings/tokens"


def refusal(response: httpx2.Response, repo: str, page: str, *, has_token: bool) -> CloxyError:
    """The error for a status of 300 or more.

    Args:
        response: the answer; its headers say why.
        repo: what was asked for.
        page: address of the repository's page.
        has_token: whether HF_TOKEN is set.
    """
    status = response.status_code
    code = response.headers.get("x-error-code", "")
    if code == "GatedRepo" or (status == 403 and has_token):
        return _gated(repo, page, has_token=has_token)
    if status in {401, 403} and not has_token:
        # The hub says the same of what does not exist, so that nobody can find out what does.
        return AuthError(
            f"the hub shows {repo} to nobody without a token, or there is no such repository",
            hint=f"check its name; for a private or gated one set HF_TOKEN (made at {_TOKENS}) "
            f"after you accepted its licence at {page}",
        )
    if status == 401:
        return AuthError(
            "the hub does not accept HF_TOKEN, or there is no such repository as " + repo,
            hint=f"check the name, and the token at {_TOKENS}; unset HF_TOKEN for public models",
        )
    if status == 404:
        what = {"RevisionNotFound": "revision", "EntryNotFound": "file"}.get(code, "repository")
        return NotFoundError(
            f"the hub has no such {what}: {repo}", hint=f"look whether {page} is there"
        )
    if status == 429:
        return FetchError(
            "the hub has had too many requests", hint="wait some minutes, or set HF_TOKEN"
        )
    if status >= 500:
        return FetchError(f"the hub has a trouble of its own (status {status})", hint="try later")
    return FetchError(f"the hub answered with status {status} for {repo}", hint=f"look at {page}")


def _gated(repo: str, page: str, *, has_token: bool) -> CloxyError:
    if has_token:
        return ForbiddenError(
            f"the owner of HF_TOKEN may not read {repo} yet",
            hint=f"accept its licence at {page}, with the account of the token; or choose another",
        )
    return AuthError(
        f"{repo} wants its licence accepted first",
        hint=f"accept it at {page}, make a token at {_TOKENS}, set HF_TOKEN to it, "
        "and run the command again; or choose a model that is open",
    )


def unreachable(endpoint: str, error: Exception) -> FetchError:
    """The error for a connection that failed."""
    reason = "it took too long" if isinstance(error, httpx2.TimeoutException) else str(error)
    return FetchError(
        f"the hub at {endpoint} cannot be reached: {reason or type(error).__name__}",
        hint="check the network; behind a proxy set HTTPS_PROXY; a mirror goes into HF_ENDPOINT; "
        "a file that you have goes behind --model",
    )


def bad_answer(endpoint: str, found: str) -> FetchError:
    """The error for an answer that no hub gives."""
    return FetchError(
        f"what answers at {endpoint} is no hub: {found}",
        hint="check HF_ENDPOINT, and whether a proxy stands between",
    )
