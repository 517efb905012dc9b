"""A chain as one HTML file. Everything is escaped; its own policy forbids scripts, forms and every request."""

from __future__ import annotations

import base64
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from html import escape

from chainviz.chains.render.json_text import lay_out, plain, prose
from chainviz.chains.render.parts import host_of, picture
from chainviz.chains.render.visible_text import marks, one_line, safe
from chainviz.core.chain.messages import ROLE_NAMES, Binary, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.core.chain.tree import message_paths
from chainviz.core.formats.traces.inspect_log import filled_in
from chainviz.store.content.chain import StoredChain
from chainviz.web.formatting import byte_text


@dataclass(frozen=True, slots=True)
class DocumentContent:
    """The content and title of an exported document."""

    title: str
    source: str
    """The version and the format, as text."""
    chain: StoredChain

    def walk(self) -> Iterator[tuple[Path, Message]]:
        messages = filled_in(self.chain.stream(0, len(self.chain)), self.chain.surroundings.texts)
        return zip(message_paths(self.chain.tree), messages, strict=True)


def number_of(path: Path) -> str:
    return f"{path.section}.{path.pair}" if path.pair else f"{path.section}"


def role_of(message: Message) -> str:
    return ROLE_NAMES.get(message.role, message.role or "Unknown")


OPEN_UP_TO = 4_000
"""The longest result in characters that is shown unfolded."""
STYLE = """
:root { color-scheme: light dark; --line: light-dark(#ddd, #383b44); --soft: light-dark(#f6f7f9, #1d1f25); --muted: light-dark(#5b6070, #a5aaba); }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; font: 15px/1.55 system-ui, sans-serif; background: light-dark(#fff, #15161a); color: light-dark(#1b1d24, #e8e9ee); overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.1rem; margin: 0; display: inline; } h3 { font-size: .95rem; margin: 0; }
.muted, summary small, h3 small { color: var(--muted); font-weight: 400; }
details.section { border: 1px solid var(--line); border-radius: 8px; margin: 1rem 0; } details.section > summary { padding: .6rem .9rem; background: var(--soft); cursor: pointer; border-radius: 8px; }
article { padding: .6rem .9rem; border-top: 1px solid var(--line); } article[data-role=human] { border-left: 3px solid #3b82c4; } article[data-role=ai] { border-left: 3px solid #7c5cd6; } article[data-role=tool] { border-left: 3px solid #2c9c7a; } article[data-role=system] { border-left: 3px solid #b08421; }
pre { white-space: pre-wrap; margin: .4rem 0; padding: .6rem; background: var(--soft); border-radius: 6px; font: 12.5px/1.5 ui-monospace, monospace; tab-size: 4; } .plain { background: none; padding: 0; font: inherit; } [data-unbroken] { font-kerning: none; }
details.fold { margin: .4rem 0; } details.fold > summary { cursor: pointer; color: var(--muted); } table { border-collapse: collapse; } td, th { border: 1px solid var(--line); padding: .2rem .5rem; overflow-wrap: break-word; }
.facts { overflow-x: auto; } .facts table { min-width: 50%; } .facts th, .facts td { border-width: 0 0 1px; padding: .35rem clamp(.6rem, 2vw, 1.5rem) .35rem 0; text-align: start; white-space: nowrap; } .facts th { color: var(--muted); font-weight: 400; }
.facts > h2, .held h2 { display: block; margin: 1.5rem 0 .4rem; } .held { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); gap: 0 2rem; margin: 2rem 0 1rem; padding: .2rem 1.2rem .6rem; background: var(--soft); border-radius: 8px; } .held h2 { font-size: 1rem; margin-top: .8rem; } .held ul { margin: 0; padding-left: 1.2rem; }
img { max-width: 100%; height: auto; } a { color: inherit; } @media print { details::details-content { content-visibility: visible; height: auto; } }
"""  # noqa: E501
_HASH = base64.b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; img-src data:; base-uri 'none'; form-action 'none'"


END = "</body>\n</html>\n"


def begin_html(title: str) -> str:
    """Return the beginning of a file with this title, which is HTML."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    )


def html_page(told: DocumentContent) -> Iterator[str]:
    yield begin_html(safe(told.title))
    yield f'<p class="muted">{safe(told.source)}. A copy to read, made by chainviz: it loads nothing and runs nothing.</p>\n'
    section = 0
    for path, message in told.walk():
        if path.section != section:
            yield "</details>\n" if section else ""
            section = path.section
            yield f'<details class="section" id="s{section}" open><summary><h2>Section {section}</h2></summary>\n'
        yield _message(number_of(path), str(path).replace(".", "-"), message)
    yield "</details>\n" if section else "<p>This chain is empty.</p>\n"
    yield END


def _message(number: str, id: str, message: Message) -> str:
    parts = "".join(map(_part, message.parts))
    head = f"<h3>{safe(role_of(message))} <small>{number} · {byte_text(message.size)}</small></h3>"
    return f'<article id="{id}" data-role="{safe(message.role)}">{head}{parts}</article>\n'


def _part(part: Part) -> str:
    match part:
        case Text():
            return _reasoning(part) + (prose(part.text) if part.text else '<p class="muted">Empty text</p>')
        case Thinking():
            return _thinking(part.content) if not part.redacted else '<p class="muted">Encrypted reasoning</p>'
        case ToolCall():
            return _reasoning(part) + _fold(f"Call of {part.name} · {part.id}", part.arguments, len(part.arguments) <= OPEN_UP_TO)
        case ToolResult():
            kind = "Error" if part.is_error else "Result"
            tool = f" of {part.name}" if part.name else ""
            words = f"{kind}{tool} · {part.call_id} · {byte_text(part.size)}"
            return _fold(words, part.content, len(part.content) <= OPEN_UP_TO) + "".join(map(_media, part.media))
        case Image() | Binary():
            return _media(part)
        case Opaque():
            return _fold(f"{part.kind}: a part of an unknown kind", part.text, False)


def _reasoning(part: Text | ToolCall) -> str:
    return _thinking(part.reasoning.content) if part.reasoning is not None and part.reasoning.content else ""


def _thinking(text: str) -> str:
    return f'<details class="fold"><summary>Reasoning</summary>{plain(text)}</details>'


def _fold(words: str, text: str, is_open: bool) -> str:
    body = f"<pre>{safe(lay_out(text) or text)}</pre>"
    return f'<details class="fold"{" open" if is_open else ""}><summary>{safe(one_line(words, 200))}</summary>{body}</details>'


def _media(part: Image | Binary) -> str:
    found = picture(part)
    if found is not None:
        content = base64.b64encode(found.content).decode()
        return f'<p><img src="data:{found.mime};base64,{content}" width="{found.width}" height="{found.height}" alt="Picture"></p>'
    if isinstance(part, Binary):
        return f'<p class="muted">A file, {safe(part.mime or "of an unknown type")}, {byte_text(len(part.content))}: not in this copy</p>'
    if not host_of(part.url):
        return '<p class="muted">An image that cannot be shown</p>'
    where = safe(part.url)
    return f'<p>A picture at <a href="{where}" rel="noreferrer noopener">{safe(one_line(part.url, 300))}</a></p>'


# A chain as Markdown. Text that could be HTML, a picture or the end of its fence is always escaped.


_TICKS = re.compile("`+|~+")
_ACTIVE = re.compile(r"<|!\[|\]\s*:|\]\(\s*(?!https?://)|javascript:|data:", re.IGNORECASE)
_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|!~&])")
FOLD_FROM = 1_500
"""The length in characters from which a call or result is folded."""


def markdown_text(told: DocumentContent) -> Iterator[str]:
    yield f"# {_words(told.title)}\n\n{_words(told.source)}.\n"
    section = 0
    for path, message in told.walk():
        if path.section != section:
            section = path.section
            yield f"\n## Section {section}\n"
        yield f"\n### {number_of(path)} {_words(role_of(message))}\n\n"
        yield _body(message)


def _body(message: Message) -> str:
    return "\n".join(_markdown_part(part) for part in message.parts) or "Empty\n"


def _markdown_part(part: Part) -> str:
    match part:
        case Text():
            return _markdown_reasoning(part) + _prose(part.text)
        case Thinking():
            return _folded("Reasoning", part.content) if not part.redacted else "Encrypted reasoning\n"
        case ToolCall():
            return _markdown_reasoning(part) + _block(f"Call of {part.name} ({part.id})", part.arguments)
        case ToolResult():
            words = f"{'Error' if part.is_error else 'Result'} for {part.call_id}, {byte_text(part.size)}"
            return "\n".join((_block(words, part.content), *map(_markdown_media, part.media)))
        case Image() | Binary():
            return _markdown_media(part)
        case Opaque():
            return _folded(f"{part.kind}: a part of an unknown kind", part.text)


def _markdown_reasoning(part: Text | ToolCall) -> str:
    held = part.reasoning is not None and bool(part.reasoning.content)
    return _folded("Reasoning", part.reasoning.content) + "\n" if held and part.reasoning else ""


def _prose(text: str) -> str:
    """Quote a text, so that its headings are not those of the file; fence it if it could be more than text."""
    shown = marks(text)
    if not shown.strip():
        return "Empty text\n"
    if _ACTIVE.search(shown):
        return _fence(shown)
    return "".join(f"> {line}\n" for line in shown.split("\n"))


def _block(words: str, text: str) -> str:
    if len(text) > FOLD_FROM:
        return _folded(words, text)
    return f"{_words(words)}\n\n{_fence(lay_out(text) or text)}"


def _folded(words: str, text: str) -> str:
    head = escape(marks(one_line(words, 200)))
    return f"<details><summary>{head}</summary>\n\n{_fence(lay_out(text) or text)}\n</details>\n"


def _fence(text: str) -> str:
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{marks(text)}\n{fence}\n"


def _markdown_media(part: Image | Binary) -> str:
    if isinstance(part, Binary):
        return f"A file, {_words(part.mime or 'of an unknown type')}, {byte_text(len(part.content))}: not in this copy\n"
    where = "in the chain itself" if part.url.startswith("data:") else f"at {_words(one_line(part.url, 300))}"
    return f"A picture {where}\n"


def _words(text: str) -> str:
    return _SIGNS.sub(r"\\\1", marks(one_line(text, 300)))


# Changes of several chains in one document, as those of several answers to one request: written together where each
# touches bytes of its own.


def merged(original: bytes, one: bytes, other: bytes) -> bytes | None:
    """Merge two changes of a document; None if they touch the same place and differ."""
    if other in (original, one):
        return one
    (start, end), (first, last) = sorted((_changed(original, one), _changed(original, other)))
    if first < end or (start, end) == (first, last):
        return None
    before, behind = (one, other) if _changed(original, one) == (start, end) else (other, one)
    return before[: len(before) - (len(original) - end)] + original[end:first] + behind[first:]


def _changed(original: bytes, changed: bytes) -> tuple[int, int]:
    """Return start and end of the changed range of the original."""
    shorter = min(len(original), len(changed))
    start = _last_equal(shorter, lambda count: original[:count] == changed[:count])
    rest = _last_equal(shorter - start, lambda count: original[len(original) - count :] == changed[len(changed) - count :])
    return start, len(original) - rest


def _last_equal(most: int, is_equal: Callable[[int], bool]) -> int:
    """Return the largest count for which the test holds; it holds for all smaller ones."""
    return bisect_left(range(1, most + 1), True, key=lambda count: not is_equal(count))
