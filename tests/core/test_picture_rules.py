"""Pictures that cannot be decoded, break off, are empty or of another type than named: found for each API, and fixed."""

from __future__ import annotations

import json
import struct
import zlib
from base64 import b64encode
from typing import Any

import pytest

import chainviz
from chainviz.core.pictures import judge_base64
from tests.core.broken_rules import broken_rules

USER_TEXT = "Look."


def png() -> bytes:
    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 14)) + chunk(b"IEND", b"")


PNG = png()
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
JPEG += b"\xff\xc0\x00\x0b\x08\x00\x02\x00\x02\x01\x01\x11\x00" + b"\xff\xd9"
GIF = b"GIF89a\x02\x00\x02\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x02\x00\x02\x00\x00\x02\x02\x84Q\x00;"
WEBP = b"RIFF\x1a\x00\x00\x00WEBPVP8L\x0e\x00\x00\x00/\x01@\x00\x00" + b"\x00" * 9
BMP = b"BM" + b"\x00" * 60
HEIC = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + b"\x00" * 40
TIFF = b"II*\x00" + b"\x00" * 60


def text(content: bytes) -> str:
    return b64encode(content).decode()


def anthropic(mime: str, data: str) -> Any:
    image = {"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}}
    use = {"type": "tool_use", "id": "toolu_1", "name": "shot", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [image]}
    asked, called = {"role": "user", "content": USER_TEXT}, {"role": "assistant", "content": [use]}
    return {"model": "claude-opus-4-8", "max_tokens": 9, "messages": [asked, called, {"role": "user", "content": [result]}]}


def openai_chat(mime: str, data: str) -> Any:
    image = {"type": "image_url", "image_url": {"url": f"data:{mime};base64,{data}"}}
    return {"model": "gpt-5", "messages": [{"role": "user", "content": [{"type": "text", "text": USER_TEXT}, image]}]}


def openai_responses(mime: str, data: str) -> Any:
    image = {"type": "input_image", "image_url": f"data:{mime};base64,{data}", "detail": "auto"}
    return {"model": "gpt-5", "input": [{"role": "user", "content": [{"type": "input_text", "text": USER_TEXT}, image]}]}


def gemini(mime: str, data: str) -> Any:
    return {"contents": [{"role": "user", "parts": [{"text": USER_TEXT}, {"inlineData": {"mimeType": mime, "data": data}}]}]}


def bedrock_converse(mime: str, data: str) -> Any:
    image = {"image": {"format": mime.removeprefix("image/"), "source": {"bytes": data}}}
    return {"modelId": "anthropic.claude-opus-4-8", "messages": [{"role": "user", "content": [{"text": USER_TEXT}, image]}]}


def mistral(mime: str, data: str) -> Any:
    image = {"type": "image_url", "image_url": f"data:{mime};base64,{data}"}
    return {"model": "mistral-large-latest", "messages": [{"role": "user", "content": [{"type": "text", "text": USER_TEXT}, image]}]}


APIS = [
    (anthropic, "anthropic", "error"), (openai_chat, "openai-chat", "warning"), (openai_responses, "openai-responses", "warning"),
    (gemini, "gemini-3", "warning"), (bedrock_converse, "bedrock", "warning"), (mistral, "mistral", "warning"),
]  # fmt: skip
"""How a request with a picture is written, the API, and how sure it is that the API refuses a wrong name of its type."""


def load(write: Any, mime: str, data: str) -> chainviz.Chain:
    (chain,) = chainviz.load(json.dumps(write(mime, data)).encode(), write.__name__)
    return chain


@pytest.mark.parametrize(("write", "provider", "_"), APIS)
@pytest.mark.parametrize(("mime", "content"), [("image/png", PNG), ("image/jpeg", JPEG), ("image/webp", WEBP)])
def test_a_whole_picture_is_accepted(write: Any, provider: str, _: str, mime: str, content: bytes) -> None:
    assert broken_rules(load(write, mime, text(content)), provider) == []


@pytest.mark.parametrize(("write", "provider", "_"), APIS)
@pytest.mark.parametrize(
    ("mime", "data", "rule"),
    [
        ("image/png", text(PNG[:-20]), "image-broken"),
        ("image/png", text(PNG)[:-5], "image-broken"),
        ("image/jpeg", text(JPEG[:-2]), "image-broken"),
        ("image/webp", text(WEBP[:-6]), "image-broken"),
        ("image/png", text(b"not a picture at all"), "image-broken"),
        ("image/bmp", text(BMP), "image-type"),
        ("image/tiff", text(TIFF), "image-type"),
        ("image/png", text(TIFF), "image-type"),
        ("image/png", "", "image-empty"),
    ],
)
def test_a_note_takes_the_place_of_a_picture_that_is_at_fault(write: Any, provider: str, _: str, mime: str, data: str, rule: str) -> None:
    chain = load(write, mime, data)
    assert broken_rules(chain, provider) == [f"{rule} error"]
    fixed = chain.apply("repair", goal=provider).chain
    assert broken_rules(fixed, provider) == []
    assert "was here]" in fixed.to_bytes().decode() and USER_TEXT in fixed.to_bytes().decode()
    (read,) = chainviz.load(fixed.to_bytes(), write.__name__)
    assert read.apply("repair", goal=provider).chain.to_bytes() == fixed.to_bytes()


@pytest.mark.parametrize(("write", "provider", "severity"), APIS)
def test_a_wrong_type_is_corrected_and_a_note_is_offered(write: Any, provider: str, severity: str) -> None:
    chain = load(write, "image/jpeg", text(PNG))
    (problem,) = [each for each in chain.problems(provider) if each.provider and each.severity in ("error", "warning")]
    assert (problem.rule, problem.severity) == ("image-mislabelled", severity)
    assert problem.fixes == ("respell-media-type", "image-to-text")
    named = chain.apply("repair", only=["respell-media-type"]).chain
    assert json.loads(named.to_bytes()) == write("image/png", text(PNG))
    noted = chain.apply("repair", only=["image-to-text"]).chain
    assert broken_rules(noted, provider) == [] and text(PNG) not in noted.to_bytes().decode()


@pytest.mark.parametrize(
    ("content", "refusing"),
    [
        (GIF, {"gemini-3"}),
        (HEIC, {"anthropic", "openai-chat", "openai-responses", "bedrock", "mistral"}),
        (BMP, {provider for _, provider, _ in APIS}),
    ],
)
def test_types_that_an_api_takes(content: bytes, refusing: set[str]) -> None:
    mime = {GIF: "image/gif", HEIC: "image/heic", BMP: "image/bmp"}[content]
    found = {provider for write, provider, _ in APIS if "image-type error" in broken_rules(load(write, mime, text(content)), provider)}
    assert found == refusing


def test_words_in_place_of_data_and_addresses_are_no_files() -> None:
    assert "image-broken error" not in broken_rules(load(openai_chat, "image/png", "<removed>"), "openai-chat")


@pytest.mark.parametrize(
    ("data", "judged"),
    [
        (text(PNG), ("image/png", "")),
        (text(PNG + b"\0" * 5_000), ("image/png", "")),
        ("\n".join([text(PNG)[:20], text(PNG)[20:]]), ("image/png", "")),
        (text(PNG).rstrip("="), ("image/png", "")),
        (text(JPEG).replace("+", "-").replace("/", "_"), ("image/jpeg", "")),
        (text(GIF), ("image/gif", "")),
        ("iVBORw0KGgo=", ("image/png", "cut")),
        ("A", ("", "base64")),
        ("!!!!", ("", "base64")),
        ("AAAA", ("", "unknown")),
        (text(b"<?xml version='1.0'?><svg xmlns='x'></svg>"), ("image/svg+xml", "")),
    ],
)
def test_files_are_judged_by_structure(data: str, judged: tuple[str, str]) -> None:
    assert judge_base64(data) == judged
