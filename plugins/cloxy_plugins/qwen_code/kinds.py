"""Kinds of records that hold no conversation, and who speaks in those that do."""

NOISE = frozenset(
    {
        "agent_bootstrap",
        "agent_launch_prompt",
        "agent_retry",
        "agent_session_ready",
        "at_command",
        "attribution_snapshot",
        "background_task_completed",
        "branch_checkpoint",
        "file_history_snapshot",
        "goal_runtime",
        "goal_state",
        "goal_turn_end",
        "notification",
        "omni_recall",
        "rewind",
        "session_approval_mode",
        "session_artifact_event",
        "session_artifact_snapshot",
        "session_execution_engine",
        "session_model",
        "session_notes",
        "session_source",
        "session_sources_snapshot",
        "slash_command",
        "turn_result",
        "ui_telemetry",
        "user_text_elements",
    }
)
"""Subtypes of records; a notice in the user's name is among them."""

TYPED = frozenset({None, "mid_turn_user_message", "realtime_message"})
"""Subtypes of what a person says."""

SCHEDULED = frozenset({"cron"})
"""Subtypes of what a program says in the user's name."""

ANSWERED = frozenset({None, "realtime_message"})
"""Subtypes of what the agent says."""

ELSEWHERE = "managed_session_"
"""Beginning of the subtypes of a log whose words lie in other files."""
