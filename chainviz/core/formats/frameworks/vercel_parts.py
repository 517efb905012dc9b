"""Parts that both message formats of the Vercel AI SDK share: reasoning with its signature, and the typed output of a tool."""

from __future__ import annotations

from typing import Any

from chainviz.core.chain.messages import Binary, Image, Thinking, ToolResult
from chainviz.core.dialects.content import carried_bytes, encoded_of, read_result_content
from chainviz.core.dialects.leaf import Leaf, Located, as_either
from chainviz.core.dialects.values import Speller, is_json, string_of
from chainviz.core.documents.json.edit import raw_at
from chainviz.core.documents.units import Pointer

_OPTIONS = ("providerOptions", "providerMetadata")
_SIGNATURES = ("signature", "thoughtSignature", "redactedData", "reasoningEncryptedContent")
_ERRORS = {"text": "error-text", "json": "error-json"}


def located_reasoning(item: dict[str, Any], place: Pointer) -> Located | None:
    """Locate `{type: "reasoning", text}`; the signature is among the provider's options, in version 4 beside the text."""
    if type(item.get("text")) is not str:
        return None
    inside: Pointer = ("signature",)
    signature = string_of(item, "signature")
    for options in _OPTIONS:
        for provider, members in (item.get(options) or {}).items() if type(item.get(options)) is dict else ():
            for key in _SIGNATURES if type(members) is dict else ():
                if string_of(members, key):
                    inside, signature = (options, provider, key), members[key]
    part = Thinking(item["text"], signature, inside[-1] == "redactedData")
    return Located(part, place, (Leaf("content", (*place, "text")), Leaf("signature", (*place, *inside))))


def new_reasoning(part: Thinking, options: str, speller: Speller) -> str:
    """Return new reasoning. Any signature is written as Anthropic's, the only ones that are recognised by their shape."""
    key = "redactedData" if part.redacted else "signature"
    signed = speller.object({"anthropic": speller.object({key: speller.quote(part.signature)})})
    members = {"type": '"reasoning"', "text": speller.quote(part.content)}
    return speller.object(members | ({options: signed} if part.signature else {}))


def located_result(item: dict[str, Any], text: str, place: Pointer) -> Located:
    """Locate a `tool-result` block, with a typed `output` or, in version 4, a bare `result`."""
    output = item["output"] if type(item.get("output")) is dict else {}
    kind = string_of(output, "type")
    key: Pointer = ("output", "value") if kind else ("result",)
    value = output.get("value") if kind else item.get("result")
    content, media = _content(value, kind, text, (*place, *key))
    if kind == "execution-denied":
        content = string_of(output, "reason")
        key = ("output", "reason")
    is_error = kind.startswith("error") or kind == "execution-denied" or item.get("isError") is True
    part = ToolResult(string_of(item, "toolCallId"), string_of(item, "toolName"), content, is_error, media)
    leaves = (
        Leaf("call_id", (*place, "toolCallId")),
        Leaf("name", (*place, "toolName")),
        *(() if media else (Leaf("content", (*place, *key), as_either),)),
        Leaf("is_error", (*place, "output", "type"), _with_error) if kind else Leaf("is_error", (*place, "isError"), _flag),
    )
    return Located(part, place, leaves)


def _content(value: Any, kind: str, text: str, place: Pointer) -> tuple[str, tuple[Image | Binary, ...]]:
    if kind == "content":
        return read_result_content(value, text, place, _element_value)
    if value is None or type(value) is str:
        return value or "", ()
    return raw_at(text, place) or "", ()


def _element_value(item: dict[str, Any]) -> str | Image | Binary | None:
    if item.get("type") == "text":
        return string_of(item, "text") if type(item.get("text")) is str else None
    mime = string_of(item, "mediaType") or string_of(item, "mimeType")
    return carried_bytes(mime, item["data"]) if type(item.get("data")) is str else None


def _flag(value: Any, raw: str, speller: Speller) -> str:
    return "true" if value else "false"


def _with_error(value: Any, raw: str, speller: Speller) -> str:
    kind = raw.strip('"')
    plain = next((name for name, error in _ERRORS.items() if error == kind), kind)
    return speller.quote(_ERRORS.get(plain, "error-text") if value else plain)


def new_output(part: ToolResult, speller: Speller) -> str:
    """Return the typed output of a new result. Images and files go into a list of content."""
    if part.media:
        from_text = [speller.object({"type": '"text"', "text": speller.quote(part.content)})] if part.content else []
        items = [_media_item(item, speller) for item in part.media]
        return speller.object({"type": '"content"', "value": speller.list([*from_text, *items])})
    is_value = part.content[:1] in "{[" and bool(part.content) and is_json(part.content)
    kind = "json" if is_value else "text"
    value = part.content if is_value else speller.quote(part.content)
    return speller.object({"type": speller.quote(_ERRORS[kind] if part.is_error else kind), "value": value})


def _media_item(part: Image | Binary, speller: Speller) -> str:
    found = encoded_of(part)
    if found is None:
        return speller.object({"type": '"text"', "text": speller.quote(part.url if isinstance(part, Image) else "")})
    return speller.object({"type": '"media"', "data": speller.quote(found[1]), "mediaType": speller.quote(found[0])})
