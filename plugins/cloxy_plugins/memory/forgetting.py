"""Forgetting: one memory, a source, a session or a project."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from cloxy_hookspecs import (
    ConflictError,
    Forgotten,
    HostContext,
    MemoryWriter,
    ValidationError,
)
from cloxy_plugins.memory.models import (
    DeletedOutput,
    ForgetInput,
    ForgetMemoryInput,
    ForgetOutput,
    StillHeldOutput,
)


def create_forget_memory(
    context: HostContext,
) -> Callable[[ForgetMemoryInput], Awaitable[DeletedOutput]]:
    """Make the operation that forgets one memory."""
    writer = context.service(MemoryWriter)

    async def forget_memory(given: ForgetMemoryInput) -> DeletedOutput:
        done = await writer.forget(given.id, dry_run=given.dry_run)
        return DeletedOutput(
            deleted=given.id,
            memories=done.memories,
            messages=done.messages,
            dry_run=given.dry_run,
            **_erased(done),
        )

    return forget_memory


def create_forget_many(context: HostContext) -> Callable[[ForgetInput], Awaitable[ForgetOutput]]:
    """Make the operation that forgets a whole source, session or project."""
    writer = context.service(MemoryWriter)

    async def forget(given: ForgetInput, *, dry_run: bool) -> Forgotten:
        if given.source_prefix is not None:
            return await writer.forget_source(given.source_prefix, dry_run=dry_run)
        if given.session is not None:
            return await writer.forget_session(given.session, dry_run=dry_run)
        return await writer.forget_project(given.project or "", dry_run=dry_run)

    async def forget_many(given: ForgetInput) -> ForgetOutput:
        _require_one(given)
        if given.expected is not None and not given.dry_run:
            counted = await forget(given, dry_run=True)
            if counted.memories != given.expected:
                raise ConflictError(
                    f"there are {counted.memories} memories of that, "
                    f"not {given.expected}; nothing was deleted",
                    hint="count again with a dry run, and have the user agree to that count",
                )
        done = await forget(given, dry_run=given.dry_run)
        return ForgetOutput(
            deleted=done.memories,
            source_prefix=given.source_prefix or "",
            session=given.session,
            project=given.project,
            messages=done.messages,
            dry_run=given.dry_run,
            **_erased(done),
        )

    return forget_many


def _require_one(given: ForgetInput) -> None:
    named = [
        name for name in (given.source_prefix, given.session, given.project) if name is not None
    ]
    if len(named) != 1:
        raise ValidationError(
            "name exactly one of source_prefix, session and project",
            hint="see the REST reference for the fields",
        )


def _erased(done: Forgotten) -> Mapping[str, Any]:
    """How far the text is gone from files: the fields that every such answer has."""
    return {
        "pending": done.pending is not None,
        "pending_reason": done.pending,
        "still_in": [StillHeldOutput(kind=held.kind, path=held.path) for held in done.still_in],
        "backups_rewritten": done.backups_rewritten,
        "backups_removed": list(done.backups_removed),
    }
