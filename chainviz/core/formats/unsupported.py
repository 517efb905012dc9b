"""What a file without a chain is, in a few words: files that lie beside transcripts and are uploaded with them.

A kind of JSON is recognised by members of the document, or of the first element of a list; a kind of text by its first lines.
"""

from __future__ import annotations

import re

from chainviz.core.dialects.no_answer import what_came_instead
from chainviz.core.dialects.streams.events import events, is_sse
from chainviz.core.documents.detection.recognition import SNIFF, peek
from chainviz.core.documents.source import Source
from chainviz.core.errors import DocumentError

_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("an OpenTelemetry trace without recorded messages", ("resourceSpans",)),
    ("a trace without recorded messages", ("traceId", "spanId")),
    ("a LangSmith run without messages that can be read", ("run_type", "inputs")),
    ("a Langfuse trace without messages that can be read", ("observations", "id")),
    ("the list of what Cline or Roo showed (its chain is in api_conversation_history.json)", ("ts", "type", "say")),
    ("a list of prompts that were typed into Gemini CLI", ("sessionId", "messageId", "message")),
    ("a list of prompts that were typed into Claude Code", ("display", "pastedContents")),
    ("a summary of a Claude Code session, without the session", ("summary", "leafUuid")),
    ("what “codex exec --json” printed (its chain is in the rollout file under ~/.codex/sessions)", ("type", "thread_id")),
    ("a promptfoo evaluation whose prompts are plain texts", ("evalId", "results")),
    ("a part of an opencode message (“opencode export” writes the whole session)", ("sessionID", "messageID", "type")),
    ("a message of opencode without its parts (“opencode export” writes the whole session)", ("sessionID", "role", "time")),
    ("a VS Code chat without requests", ("kind", "v")),
    ("a list of training examples (prompt and completion)", ("prompt", "completion")),
    ("a list of training examples (instruction and output)", ("instruction", "output")),
    ("an OpenAPI description", ("openapi", "paths")),
    ("a JSON Schema", ("$schema",)),
    ("a JSON Schema", ("type", "properties")),
    ("a Jupyter notebook", ("nbformat", "cells")),
    ("a package description", ("name", "version", "dependencies")),
    ("a package description", ("lockfileVersion", "packages")),
    ("a list of tool definitions", ("name", "description", "parameters")),
    ("a list of tool definitions", ("name", "description", "input_schema")),
    ("a list of tool definitions", ("type", "function")),
    ("an OpenHands evaluation run without recorded events", ("history", "git_patch")),
    ("an OpenHands evaluation run without recorded events", ("history", "metadata")),
    ("an OpenHands evaluation run without recorded events", ("instance_id", "test_result")),
    ("an export of Open WebUI without messages", ("chat", "title", "user_id")),
    ("a list of agent tasks", ("id", "user_scenario")),
    ("a list of agent tasks", ("id", "evaluation_criteria")),
    ("a list of agent tasks", ("instance_id", "problem_statement")),
    ("a list of predictions", ("instance_id", "model_patch")),
    ("an embedding", ("embedding",)),
    ("a list of embeddings", ("embeddings",)),
    ("an uploaded file's record", ("object", "filename", "bytes")),
    ("a transcription of audio", ("text", "segments")),
    ("a transcription of audio", ("text", "languageCode")),
    ("a count of tokens", ("input_tokens",)),
    ("a count of tokens", ("totalTokens",)),
    ("a generated image", ("b64_json",)),
    ("evaluation scores", ("scores",)),
    ("evaluation scores", ("metrics",)),
    ("evaluation scores", ("accuracy",)),
    ("evaluation scores", ("score",)),
    ("a log of HTTP requests", ("log", "entries")),
    ("a log of HTTP requests", ("method", "url")),
    ("a log of HTTP requests", ("request", "response")),
    ("a configuration", ("model", "temperature")),
    ("a configuration", ("config",)),
    ("a configuration", ("settings",)),
)
"""A kind and the members that it has; the first kind that fits counts."""
_HOLDERS = ("data", "items", "results", "tools", "models")
"""Members whose first element tells what the document is a list of."""
_TEXTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a stream of events from a provider", re.compile(r"(?:event|data|id): ?\S")),
    ("a patch", re.compile(r"(?:diff --git |--- \S.*\n\+\+\+ )")),
    ("a Python traceback", re.compile(r"Traceback \(most recent call last\)")),
    ("source code", re.compile(r"(?:#!|import \w|from [\w.]+ import |package \w+|const \w+ =|def \w+\()")),
    ("YAML", re.compile(r"(?:---\s*\n)?(?:- )?[\w.-]+:(?: .*)?\n(?:\s*(?:- )?[\w.\"'-]+:|\s*- )")),
    ("a table of comma-separated values", re.compile(r"[^,\n{}]+(?:,[^,\n{}]*){2,}\n[^\n]*,")),
    ("Markdown", re.compile(r"(?:#{1,6} \S|\*\*\S|```)")),
    ("a log", re.compile(r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d")),
)
HEAD = 1 << 12
"""Characters that tell what a text is."""


def refuse_kind(source: Source) -> None:
    """Raises DocumentError with what the file is, where something tells."""
    refuse_without_answer(source)
    text = _beginning(source)
    value = peek(text) if text[:1] in ("{", "[") else None
    if value is None:
        name = next((name for name, form in _TEXTS if form.match(text[:HEAD])), "")
    else:
        inner = [value[key] for key in _HOLDERS if value.get(key)] if isinstance(value, dict) else []
        name = next(filter(None, (_kind(each) for each in (value, *inner))), "")
    _refuse(name)


def refuse_without_answer(source: Source) -> None:
    """Raises DocumentError with what a provider sent in place of an answer, where the file is that."""
    text = _beginning(source)
    values = [event.value for event in events(text)] if text.startswith(("{", "[")) or is_sse(text) else []
    # the last one tells how it ended
    _refuse(next(filter(None, map(what_came_instead, reversed(values))), ""))


def _beginning(source: Source) -> str:
    return source.text(3 if source.bom else 0, SNIFF).lstrip()


def _refuse(name: str) -> None:
    if name:
        raise DocumentError(f"This is {name}: it holds no chain; upload a transcript, or keep the file as raw text.", raw=True)


def _kind(value: object) -> str:
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return ""
    return next((name for name, keys in _KINDS if all(first.get(key) is not None for key in keys)), "")
