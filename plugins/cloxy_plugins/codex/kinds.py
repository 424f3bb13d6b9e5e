"""Kinds of records that hold no words of the conversation."""

LINES = frozenset({"world_state", "context_window", "ghost_snapshot", "turn_diff"})
"""Types of lines."""

LINES_BETWEEN_AGENTS = "inter_agent_communication"
"""Beginning of types of lines that agents send each other; each has its own rollout."""

WORK_ITEMS = frozenset(
    {
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "local_shell_call_output",
        "web_search_call",
        "image_generation_call",
        "tool_search_call",
        "tool_search_output",
        "mcp_tool_call",
        "mcp_tool_call_output",
    }
)
"""Response items that an agent at work leaves: where they are, something was said."""

ITEMS = frozenset(
    {
        "additional_tools",
        "compaction",
        "compaction_summary",
        "compaction_trigger",
        "context_compaction",
        "ghost_snapshot",
        "item_reference",
        "other",
    }
)
"""Other response items."""

EVENTS = frozenset(
    {
        "agent_message_delta",
        "agent_reasoning",
        "agent_reasoning_delta",
        "agent_reasoning_raw_content",
        "agent_reasoning_section_break",
        "apply_patch_approval_request",
        "background_event",
        "context_compacted",
        "deprecation_notice",
        "dynamic_tool_call_request",
        "dynamic_tool_call_response",
        "elicitation_request",
        "entered_review_mode",
        "error",
        "exec_approval_request",
        "exec_command_begin",
        "exec_command_end",
        "exec_command_output_delta",
        "exited_review_mode",
        "guardian_assessment",
        "hook_completed",
        "hook_started",
        "image_generation_begin",
        "image_generation_end",
        "item_started",
        "item_updated",
        "mcp_tool_call_begin",
        "mcp_tool_call_end",
        "model_reroute",
        "model_verification",
        "patch_apply_begin",
        "patch_apply_end",
        "patch_apply_updated",
        "plan_update",
        "request_permissions",
        "request_user_input",
        "session_configured",
        "shutdown_complete",
        "skills_update_available",
        "stream_error",
        "sub_agent_activity",
        "task_started",
        "terminal_interaction",
        "thread_goal_updated",
        "thread_rolled_back",
        "thread_settings_applied",
        "token_count",
        "turn_aborted",
        "turn_diff",
        "turn_started",
        "undo_completed",
        "undo_started",
        "view_image_tool_call",
        "warning",
        "web_search_begin",
        "web_search_end",
    }
)
"""Events."""

EVENTS_OF_TEAMS = "collab_"
"""Beginning of types of events about other agents."""

COMPLETED = frozenset(
    {
        "CollabAgentToolCall",
        "CollabToolCall",
        "CommandExecution",
        "ContextCompaction",
        "DynamicToolCall",
        "EnteredReviewMode",
        "ExitedReviewMode",
        "FileChange",
        "HookPrompt",
        "ImageGeneration",
        "ImageView",
        "McpToolCall",
        "Reasoning",
        "Sleep",
        "SubAgentActivity",
        "WebSearch",
    }
)
"""Completed items."""
