"""Kinds of messages that a window shows, by who speaks in them."""

PROGRESS = "task_progress"
CHANGED = "HAS_CHANGES"
SUMMARY_TOOL = "summarizeTask"

SAID = frozenset({"text", "completion_result", "plan_completion_result"})
TYPED = frozenset({"user_feedback", "user_feedback_diff"})
ASKED = frozenset(
    {"followup", "plan_mode_respond", "plan_mode_response", "act_mode_respond", "completion_result"}
)
SUMMARIES = frozenset({"condense", "new_task", "summarize_task"})
NOISE = frozenset(
    {
        "api_req_deleted",
        "api_req_failed",
        "api_req_finished",
        "api_req_rate_limit_wait",
        "api_req_rate_limited",
        "api_req_retried",
        "api_req_retry_delayed",
        "api_req_started",
        "auto_approval_max_req_reached",
        "browser_action",
        "browser_action_launch",
        "browser_action_result",
        "browser_session_status",
        "checkpoint_created",
        "checkpoint_saved",
        "clineignore_error",
        "codebase_search_result",
        "command",
        "command_output",
        "command_permission_denied",
        "compaction",
        "condense_context_error",
        "conditional_rules_applied",
        "deleted_api_reqs",
        "diff_error",
        "error",
        "error_retry",
        "generate_explanation",
        "hook_output_stream",
        "hook_status",
        "image",
        "info",
        "inspect_site_result",
        "invalid_model",
        "load_mcp_documentation",
        "mcp_notification",
        "mcp_server_request_started",
        "mcp_server_response",
        "mistake_limit_reached",
        "payment_required_prompt",
        "reasoning",
        "report_bug",
        "resume_completed_task",
        "resume_task",
        "rooignore_error",
        "shell_integration_warning",
        "shell_integration_warning_with_suggestion",
        "sliding_window_truncation",
        "subagent",
        "subagent_usage",
        "subtask_result",
        "too_many_tools_warning",
        "tool",
        "unauthorized_prompt",
        "use_mcp_server",
        "use_subagents",
        "user_edit_todos",
    }
)
