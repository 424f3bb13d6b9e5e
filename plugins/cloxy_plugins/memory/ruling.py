"""Rules of projects: what is never remembered, and what is not kept for ever."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from cloxy_hookspecs import (
    HostContext,
    MemoryWriter,
    OperationProvider,
    ProjectRule,
    ProjectRules,
    Route,
)
from cloxy_plugins.memory.models import Nothing
from cloxy_plugins.memory.rule_models import (
    ExpiredOutput,
    ExpireInput,
    ExpireOutput,
    IgnoreInput,
    IgnoreOutput,
    RetentionInput,
    RuleOutput,
    RulesOutput,
)


def operations() -> Iterable[OperationProvider[Any, Any]]:
    """All of them, with their doors."""
    yield OperationProvider(
        name="project-rules",
        summary="List which projects are ignored or not kept for ever",
        requires=(ProjectRules,),
        input=Nothing,
        output=RulesOutput,
        effect="read",
        doors=(Route("GET", "/project_rules"),),
        create=create_rules,
    )
    yield OperationProvider(
        name="project-ignore",
        summary="Remember nothing of a project, or remember it again",
        requires=(ProjectRules, MemoryWriter),
        input=IgnoreInput,
        output=IgnoreOutput,
        effect="admin",
        doors=(Route("POST", "/ignore"),),
        create=create_ignore,
    )
    yield OperationProvider(
        name="project-retention",
        summary="Say for how many days a project is kept",
        requires=(ProjectRules,),
        input=RetentionInput,
        output=RuleOutput,
        effect="admin",
        doors=(Route("POST", "/retention"),),
        create=create_retention,
    )
    yield OperationProvider(
        name="project-expire",
        summary="Count or remove what is older than the rules keep it",
        requires=(ProjectRules,),
        input=ExpireInput,
        output=ExpireOutput,
        effect="admin",
        doors=(Route("POST", "/expire"),),
        create=create_expire,
    )


def create_rules(context: HostContext) -> Callable[[Nothing], Awaitable[RulesOutput]]:
    """Make the operation that lists the rules."""
    port = context.service(ProjectRules)

    async def rules(_given: Nothing) -> RulesOutput:
        return RulesOutput(rules=[_rule(rule) for rule in await port.rules()])

    return rules


def create_ignore(context: HostContext) -> Callable[[IgnoreInput], Awaitable[IgnoreOutput]]:
    """Make the operation that has a project ignored, or remembered again."""
    port = context.service(ProjectRules)
    writer = context.service(MemoryWriter)

    async def ignore(given: IgnoreInput) -> IgnoreOutput:
        if given.remove:
            rule = await port.stop_ignoring(given.project)
            return IgnoreOutput(project=rule.project, ignored=rule.ignored)
        rule = await port.ignore(given.project)
        if not given.forget:
            return IgnoreOutput(project=rule.project, ignored=rule.ignored)
        done = await writer.forget_project(rule.project, missing_ok=True)
        return IgnoreOutput(
            project=rule.project,
            ignored=rule.ignored,
            deleted=done.memories,
            pending=done.pending is not None,
        )

    return ignore


def create_retention(context: HostContext) -> Callable[[RetentionInput], Awaitable[RuleOutput]]:
    """Make the operation that says how long a project is kept."""
    port = context.service(ProjectRules)

    async def retention(given: RetentionInput) -> RuleOutput:
        return _rule(await port.keep_for(given.project, given.days))

    return retention


def create_expire(context: HostContext) -> Callable[[ExpireInput], Awaitable[ExpireOutput]]:
    """Make the operation that removes, or counts, what is older than the rules keep it."""
    port = context.service(ProjectRules)

    async def expire(given: ExpireInput) -> ExpireOutput:
        found = await port.expire(dry_run=given.dry_run)
        return ExpireOutput(
            dry_run=given.dry_run,
            expired=[ExpiredOutput(project=e.project, messages=e.messages) for e in found],
        )

    return expire


def _rule(rule: ProjectRule) -> RuleOutput:
    return RuleOutput(project=rule.project, ignored=rule.ignored, keep_days=rule.keep_days)
