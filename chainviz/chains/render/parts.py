"""One part of a message as HTML: text, reasoning, image, call, result, or what we do not know.

An image is served if its bytes are one that we know, and is otherwise only named, never fetched.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from chainviz.chains.render.json_text import lay_out, paint, plain, prose
from chainviz.chains.render.text_marks import Stretch, TextMark, in_layout, mark_prose, mark_text, stretch
from chainviz.chains.render.visible_text import one_line, safe
from chainviz.core.chain.messages import Binary, Image, Opaque, Part, Reasoning, Text, Thinking, ToolCall, ToolResult, byte_size
from chainviz.core.chain.paths import Path
from chainviz.core.counts import count_text
from chainviz.core.formats.traces.inspect_log import is_reference, references
from chainviz.core.pictures import measured
from chainviz.web.formatting import byte_text
from chainviz.web.templatetags.chainviz import icon


@dataclass(frozen=True, slots=True)
class Reading:
    """Addresses for links, and the reading preferences of a person."""

    base_url: str
    as_written: bool = False
    """True to show texts as in the source, without rendering Markdown or formatting JSON."""
    repair_url: str = ""
    """The page that offers fixes; "" if there is none."""
    attachment: Callable[[str], str | None] = lambda hash: None
    """Returns the text of an attachment beside the messages, by its hash."""
    marks: Mapping[Path, Sequence[TextMark]] = field(default_factory=dict)
    """The marks, by the path of a part."""

    def marks_in(self, path: Path, text: str) -> list[TextMark]:
        return [mark for mark in self.marks.get(path, ()) if mark.is_in(text)]

    def url(self, view: str, path: Path, **query: object) -> str:
        words = {"text": "plain", **query} if self.as_written else query
        tail = "&amp;".join(f"{key}={quote(str(value))}" for key, value in words.items())
        return f"{self.base_url}{view}/{path}" + (f"?{tail}" if tail else "")


def part_html(reading: Reading, path: Path, part: Part) -> str:
    match part:
        case Text():
            before = reasoning_html(part.reasoning) if part.reasoning else ""
            return before + text_html(reading, path, part.text)
        case Thinking():
            return thinking_html(part, reading.marks_in(path, part.content))
        case Image() | Binary():
            return media_html(reading, path, part)
        case ToolCall():
            return f'<div class="tool-call" data-single>{call_html(reading, path, part)}</div>'
        case ToolResult():
            return f'<div class="tool-call" data-single>{result_html(reading, path, part)}</div>'
        case Opaque():
            return opaque_html(reading, path, part)


def text_html(reading: Reading, path: Path, text: str) -> str:
    if not text:
        return '<p class="faint">Empty text</p>'
    shown = stretch(text)
    body = plain(shown.text) if reading.as_written or not shown.text.strip() else prose(shown.text)
    body = mark_prose(body, shown, reading.marks_in(path, text))
    return body + more_html(reading, path, shown) + attachments_html(reading, text)


def attachments_html(reading: Reading, text: str) -> str:
    """Return the attachments of the document to which the text refers; open if it consists of nothing but a reference."""
    found = [(hash, content) for hash in references(text) if (content := reading.attachment(hash)) is not None]
    return "".join(_attachment(hash, content, is_open=is_reference(text)) for hash, content in found)


def _attachment(hash: str, content: str, *, is_open: bool) -> str:
    shown = stretch(content)
    rest = f'<p class="faint">{byte_text(shown.left)} more in the raw source.</p>' if shown.left else ""
    return (
        f'<details class="reasoning"{" open" if is_open else ""}><summary>{icon("chevron", "chevron")}{icon("file")}Attachment '
        f'{safe(hash[:8])} <span class="faint">{byte_text(byte_size(content))}, kept beside the messages</span></summary>'
        f'<pre class="code" tabindex="0" hx-disable>{safe(shown.text)}</pre>{rest}</details>'
    )


def thinking_html(part: Thinking, marks: Sequence[TextMark] = ()) -> str:
    if part.redacted:
        return '<p class="reasoning-hidden faint">Reasoning that the provider encrypted: it is kept, but nobody can read it.</p>'
    return _reasoning(part.content, part.signature, marks)


def reasoning_html(reasoning: Reasoning) -> str:
    return "" if reasoning.is_empty else _reasoning(reasoning.content, reasoning.signature)


def _reasoning(content: str, signature: str, marks: Sequence[TextMark] = ()) -> str:
    facts = [byte_text(byte_size(content))] if content else ["no text"]
    if signature:
        facts.append("signature kept")
    shown = stretch(content)
    rest = "" if not shown.left else f'<p class="faint">{byte_text(shown.left)} more in the raw source.</p>'
    return (
        f'<details class="reasoning"><summary>{icon("chevron", "chevron")}{icon("reasoning")}Reasoning '
        f'<span class="faint">{" · ".join(facts)}</span></summary>{mark_prose(prose(shown.text), shown, marks)}{rest}</details>'
    )


def media_html(reading: Reading, path: Path, part: Image | Binary, number: int | None = None) -> str:
    """Render an image from our own address if the chain contains it; otherwise name it and, if remote, link it."""
    found = picture(part)
    size = byte_text(part.size)
    if found:
        query = {} if number is None else {"media": number}
        return (
            f'<figure class="attachment"><img src="{reading.url("image", path, **query)}" width="{found.width}" '
            f'height="{found.height}" loading="lazy" alt="Image in this message"><figcaption>{icon("image")}'
            f"{found.mime.removeprefix('image/').upper()} · {found.width} × {found.height} · {size}</figcaption></figure>"
        )
    if isinstance(part, Binary):
        return f'<p class="attachment">{icon("file")}File, {safe(one_line(part.mime, 60)) or "no type"} · {size}</p>'
    host = host_of(part.url)
    if host:
        return (
            f'<p class="attachment">{icon("image")}<a href="{safe(part.url.strip())}" target="_blank" '
            f'rel="noopener noreferrer nofollow">Image at {safe(host)}</a> · not loaded; opening it tells that site</p>'
        )
    return f'<p class="attachment">{icon("image")}Image that cannot be shown here: {safe(one_line(part.url, 80))} · {size}</p>'


def call_html(reading: Reading, path: Path, call: ToolCall) -> str:
    name = safe(one_line(call.name, 200)) or '<span class="faint">no name</span>'
    before = reasoning_html(call.reasoning) if call.reasoning else ""
    return (
        f'<div class="tool-part" id="{path.dom_id}"><div class="tool-part-head" data-role="ai"><span class="tool-name">{name}</span>'
        f'<span class="tool-id" title="{safe(one_line(call.id, 200))}">{safe(one_line(call.id, 200)) or "no id"}</span>'
        f'<span class="number faint">{byte_text(call.size)}</span></div>{before}'
        f"{_code(reading, path, call.arguments, 'no arguments')}</div>"
    )


def result_html(reading: Reading, path: Path, result: ToolResult) -> str:
    state, word = ("problem", "error result") if result.is_error else ("ok", "result")
    media = "".join(media_html(reading, path, part, i) for i, part in enumerate(result.media))
    return (
        f'<div class="tool-part" id="{path.dom_id}"><div class="tool-part-head" data-role="tool" data-state="{state}"><span>{word}</span>'
        f'<span class="tool-id">{safe(one_line(result.name, 100))}</span>'
        f'<button class="button" type="button" data-size="small" data-action="wrap" aria-pressed="true">Wrap</button>'
        f'<a class="button" data-size="small" data-action="widen" href="{reading.url("part", path)}">Full width</a>'
        f'<span class="number faint">{byte_text(result.size)}</span></div>'
        f"{_code(reading, path, result.content, 'empty result')}{media}</div>"
    )


OPAQUE_WORDS = {
    "input_audio": "Audio", "audio": "Audio", "file": "File", "attachment": "Attachment", "document": "Document", "refusal": "Refusal",
}  # fmt: skip
"""Words for kinds of parts that people know, although the tree does not read them."""


def opaque_html(reading: Reading, path: Path, part: Opaque) -> str:
    word = OPAQUE_WORDS.get(part.kind)
    name = _name_inside(part.text) if word else ""
    about = "kept as it is" if word else "a part chainviz does not know; it is kept as it is"
    return (
        f'<details class="reasoning"><summary>{icon("chevron", "chevron")}{icon("file" if word else "info")}'
        f"{word or safe(one_line(part.kind, 60))}{f' {safe(name)}' if name else ''} "
        f'<span class="faint">{byte_text(byte_size(part.text))} in the source, {about}</span></summary>'
        f"{_code(reading, path, part.text, 'empty')}</details>"
    )


def _name_inside(text: str) -> str:
    """Return the name of a file or recording, else its encoding, from any member of the part."""
    found = re.search(r'"(?:filename|file_name|title|name)"\s*:\s*"([^"\\]{1,200})"', text) or re.search(
        r'"(?:format|media_type|file_id)"\s*:\s*"([^"\\]{1,200})"', text
    )
    return one_line(found[1], 80) if found else ""


def display_text(part: Part, as_written: bool) -> tuple[str, bool]:
    """Return the text that `part` is shown as, and whether it is JSON that we formatted. Places in long parts refer to
    this text."""
    match part:
        case Text(text=text):
            return text, False
        case Thinking(content=text):
            return text, False
        case ToolCall(arguments=text) | ToolResult(content=text) | Opaque(text=text):
            laid_out = None if as_written else lay_out(text)
            return (text, False) if laid_out is None else (laid_out, True)
        case Image(url=text):
            return text, False
        case _:
            return "", False


def _code(reading: Reading, path: Path, text: str, empty: str) -> str:
    if not text:
        return f'<p class="missing faint">({empty})</p>'
    laid_out = None if reading.as_written else lay_out(text)
    shown = stretch(text if laid_out is None else laid_out)
    body = safe(shown.text) if laid_out is None else paint(shown.text)
    fades = " fades" if shown.left else ""
    code = f'<pre class="code{fades}" tabindex="0" hx-disable>{body}</pre>'
    marks = reading.marks_in(path, text)
    code = mark_text(code, shown, marks if laid_out is None else in_layout(marks, text))
    return code + more_html(reading, path, shown) + attachments_html(reading, text)


def more_html(reading: Reading, path: Path, shown: Stretch, until: int | None = None) -> str:
    """Render the link to the next step with the amount that is left; `until`: the end of the steps, if not that of the text."""
    if not shown.left:
        return ""
    lines = f" · {count_text(shown.lines_left, 'line')}" if shown.lines_left > 1 else ""
    words = f"Show more: {count_text(shown.left, 'character')}{lines} left"
    return _more_link(reading, path, words, shown.end, until)


def between_html(reading: Reading, path: Path, start: int, end: int) -> str:
    """Render the link to the text between the shown parts."""
    return _more_link(reading, path, f"Show the {count_text(end - start, 'character')} between", start, end) if end > start else ""


def _more_link(reading: Reading, path: Path, words: str, start: int, until: int | None) -> str:
    query = {"from": start} if until is None else {"from": start, "until": until}
    return f'<a class="more" data-more href="{reading.url("part", path, **query)}">{icon("expand")}{words}</a>'


MOST_BYTES = 8_000_000
_DATA_URL = re.compile(r"data:image/[a-z.+-]{1,40};base64,", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Picture:
    mime: str
    width: int
    height: int
    content: bytes


def picture(part: Image | Binary) -> Picture | None:
    """Return a PNG, JPEG, GIF or WebP, recognised by its first bytes, whatever type the transcript gives it; never an
    SVG."""
    content = part.content if isinstance(part, Binary) else _data_url_bytes(part.url)
    if not content or len(content) > MOST_BYTES:
        return None
    found = measured(content)
    if found is None or not (0 < found[1] < 65536 and 0 < found[2] < 65536):
        return None
    return Picture(*found, content)


def host_of(url: str) -> str:
    """Return the host of a remote image; "" if this is not a web address."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    return parts.hostname or "" if parts.scheme in ("http", "https") else ""


def _data_url_bytes(url: str) -> bytes:
    head = _DATA_URL.match(url)
    if not head or len(url) > MOST_BYTES * 4 // 3 + 100:
        return b""
    try:
        return base64.b64decode(url[head.end() :], validate=False)
    except (binascii.Error, ValueError):
        return b""
