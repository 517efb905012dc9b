"""Names of fields that many formats have beside what is said: ids, times, models, counts, settings. Their texts need not be shown."""

from __future__ import annotations

KNOWN_FIELDS = frozenset(
    # what a record is, and whose
    ("type", "role", "from", "kind", "object", "$type", "lc", "name", "author", "sender", "senderName", "recipient", "username", "userType",
     "status", "phase", "mode", "priority", "audience", "originator", "origin", "requestor", "content_type", "contentType",
     "mime_type", "mimeType", "mediaType", "media_type", "format", "detail", "category", "block_type", "part_kind", "message_type",
     "modality", "boundary", "visibility",
     # ids
     "id", "_id", "uuid", "parentId", "parent_id", "parentID", "parentUuid", "sessionId", "session_id", "sessionID", "thread_id",
     "threadId", "run_id", "trace_id", "span_id", "traceId", "spanId", "messageId", "message_id", "messageID", "parentMessageId",
     "conversationId", "conversation_id", "requestId", "request_id", "responseId", "response_id", "item_id", "event_id", "agent_id",
     "agentId", "invocation_id", "identifier", "turn_id", "step_id", "stepIdentifier", "group_id", "user_id", "provider_response_id",
     # times
     "timestamp", "timestamp_", "created", "created_at", "createdAt", "updated", "updated_at", "updatedAt", "create_time",
     "createTime", "update_time", "inserted_at", "date", "time", "timeUnixNano", "start_timestamp", "started_at", "completed_at",
     "creation_timestamp",
     "expires_at", "ts", "send_date", "duration", "duration_ms", "elapsed",
     # which model, and what it cost
     "model", "model_name", "modelName", "model_id", "modelId", "modelID", "model_slug", "model_provider", "modelVersion", "provider",
     "providerId", "providerID", "provider_id", "provider_name", "providerName", "api", "system_fingerprint", "service_tier", "usage",
     "usageMetadata", "usage_metadata", "tokens", "token_usage", "token_count", "cost", "metrics", "logprobs", "temperature",
     "top_p", "max_tokens", "index", "seed", "cache_control", "cachePoint", "ttl", "speed", "effort",
     # how it ended
     "finish_reason", "finishReason", "stop_reason", "stopReason", "stop_sequence", "finish", "finish_details", "end_turn", "exit_code",
     # where
     "cwd", "gitBranch", "version", "hostname", "slug", "permissionMode", "entrypoint", "tools", "tool_choice", "config",
     "safetyRatings", "safety_ratings", "annotations", "citations", "citationMetadata", "groundingMetadata")
)  # fmt: skip
