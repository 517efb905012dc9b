"""The `type` of content parts in messages with `role` and `content`."""

PART_TYPES = frozenset(
    ("text", "image_url", "input_audio", "file", "refusal", "tool_use", "tool_result", "thinking", "redacted_thinking",
     "image", "document", "search_result", "server_tool_use", "input_text", "output_text", "input_image", "input_file",
     "tool-call", "tool-result", "reasoning", "tool_call", "tool_response", "document_url", "image_file")
)  # fmt: skip
"""Those that some API knows: one that does not take it is certain to refuse it."""
OF_SOME = frozenset(
    ("video_url", "audio_url", "video", "audio", "media", "resource", "resource_link", "json", "custom", "container_upload",
     "computer_screenshot", "mcp_tool_use", "compaction", "cache_control", "binary", "reasoning-file", "custom-content")
)  # fmt: skip
"""Those that a server or a program knows, or a release of an API."""


def is_known(type: str) -> bool:
    return type in PART_TYPES or type in OF_SOME or type.endswith(("_tool_result", "-url", "-data", "-id"))
