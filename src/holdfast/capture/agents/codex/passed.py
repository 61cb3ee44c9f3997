"""Lines of a rollout that are known and passed over: nothing in them is for memory.

Display copies of prompts, answers and reasoning; counts; opaque blobs; what the harness tells the model. A
kind that stands in none of these lists is counted as unknown, so that a new one is noticed.

Most of them say so in their first bytes, as Codex writes them, and need not be parsed: that is a third of
all lines.
"""

from holdfast.patterns import regex

# Response items.
ITEMS = frozenset(
    {
        "additional_tools",
        "compaction",
        "compaction_summary",
        "context_compaction",
        "ghost_snapshot",
        "image_generation_call",
        "other",
    }
)
# Events.
EVENTS = frozenset(
    {
        "agent_message",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "background_event",
        "collab_agent_interaction_end",
        "collab_agent_spawn_end",
        "collab_close_end",
        "collab_resume_end",
        "collab_waiting_end",
        "context_compacted",
        "dynamic_tool_call_request",
        "dynamic_tool_call_response",
        "entered_review_mode",
        "error",
        "exec_command_begin",
        "exited_review_mode",
        "guardian_assessment",
        "image_generation_end",
        "mcp_tool_call_begin",
        "patch_apply_begin",
        "plan_update",
        "stream_error",
        "sub_agent_activity",
        "task_complete",
        "thread_name_updated",
        "thread_rolled_back",
        "thread_settings_applied",
        "token_count",
        "turn_complete",
        "turn_diff",
        "undo_completed",
        "user_message",
        "view_image_tool_call",
        "warning",
        "web_search_begin",
        "web_search_end",
    }
)
# Items of the display, told by `item_completed`.
SHOWN = frozenset(
    {
        "AgentMessage",
        "CollabAgentToolCall",
        "ContextCompaction",
        "DynamicToolCall",
        "EnteredReviewMode",
        "ExitedReviewMode",
        "Extension",
        "HookPrompt",
        "ImageGeneration",
        "ImageView",
        "Reasoning",
        "Sleep",
        "SubAgentActivity",
        "UserMessage",
        "WebSearch",
    }
)
# Lines of their own.
LINES = frozenset(
    {
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "security_risk_score",
        "token_usage_record",
        "world_state",
    }
)

_HEAD = rb'\{"timestamp":"[^"]{0,40}",(?:"ordinal":\d{1,12},)?"type":"'
_EVENTS = rb"token_count|user_message|agent_message|agent_reasoning|task_complete|thread_settings_applied"
_SHOWN = rb'"thread_id":"[^"]{0,60}","turn_id":"[^"]{0,60}","item":\{"type":"(?:User|Agent)Message"'
_KINDS = (
    rb'(?:world_state|token_usage_record)"',
    rb'event_msg","payload":\{"type":"(?:' + _EVENTS + rb')"',
    rb'event_msg","payload":\{"type":"item_completed",' + _SHOWN,
    rb'response_item","payload":\{"type":"(?:additional_tools|ghost_snapshot)"',
    rb'response_item","payload":\{"type":"message",(?:"id":"[^"]{0,100}",)?"role":"developer"',
)
_PASSED = regex(_HEAD + rb"(?:" + rb"|".join(_KINDS) + rb")")


def is_wanted(raw: bytes) -> bool:
    """Whether a line may hold something, by its first bytes; one with a second object glued on does."""
    return _PASSED.match(raw) is None or b'}{"timestamp"' in raw
