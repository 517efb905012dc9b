"""Template tags that every template has without loading them: icons, sizes, numbers, times, code in a text and texts in fields."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.counts import count_text
from chainviz.core.errors import PathError
from chainviz.web.formatting import byte_text, day_text, for_field, full_time, relative_time
from chainviz.web.keyboard_shortcuts import WORDS as KEY_WORDS
from chainviz.web.keyboard_shortcuts import Shortcut, shortcuts_of

register = template.Library()


@register.simple_tag
def icon(name: str, css_class: str = "") -> SafeString:
    """Return a symbol of static/icons/icons.svg. It is always beside a word or inside a labelled control, so it is
    hidden from screen readers."""
    return _icon(name, css_class, static("icons/icons.svg"))


@lru_cache(maxsize=512)
def _icon(name: str, css_class: str, file: str) -> SafeString:
    classes = f"icon {css_class}".rstrip()
    return format_html('<svg class="{}" aria-hidden="true"><use href="{}#{}"/></svg>', classes, file, name)


@register.simple_tag(takes_context=True)
def key_list(context: Mapping[str, Any], page: str = "", features: str = "") -> SafeString:
    """Return the keys of a page as rows of the list in the help. `features` names what the page has beside the person's
    rights."""
    return _key_list(page, frozenset({*context.get("may", ()), *features.split(), *(["team"] if context.get("signed_in") else [])}))


@lru_cache(maxsize=128)
def _key_list(page: str, present: frozenset[str]) -> SafeString:
    keys = ((shortcut.what, format_html_join(" ", "<kbd>{}</kbd>", _key_words(shortcut))) for shortcut in shortcuts_of(page, present))
    return format_html_join("\n", "<div><dt>{}</dt><dd>{}</dd></div>", keys)


def _key_words(shortcut: Shortcut) -> list[tuple[str]]:
    words = (word for keys in shortcut.keys for word in keys.split())
    return [(KEY_WORDS.get(word, word),) for word in words]


@register.filter("bytes")
def bytes_filter(size: int | None) -> str:
    return "" if size is None else byte_text(size)


@register.filter
def place(path: Path | str) -> str:
    """Return the number that the explorer shows for the node of a path: 2.3 or §2. Any other text is returned unchanged."""
    try:
        return parse_path(str(path)).number
    except PathError:
        return str(path)


@register.filter
def thousands(count: int | None) -> str:
    """Return 1234567 as 1,234,567."""
    return "" if count is None else f"{count:,}"


@register.filter
def count(number: int | None, noun: str) -> str:
    """Return a count with its noun, such as `1 message` or `1,200 messages`. `noun` is the singular; a plural that does
    not just add an s follows after a comma."""
    one, _, many = noun.partition(",")
    return "" if number is None else count_text(number, one, many)


@register.filter
def code_spans(text: str) -> SafeString:
    """Return the text with what lies between backticks as code."""
    spans = enumerate(text.split("`"))
    return format_html_join("", "{}", ((format_html("<code>{}</code>", span) if at % 2 else span,) for at, span in spans))


register.filter("field_text", for_field)


@register.simple_tag
def ago(then: datetime) -> SafeString:
    return _time(then, relative_time(then, timezone.now()))


@register.simple_tag
def day(then: datetime) -> SafeString:
    return _time(then, day_text(then, timezone.now()))


def _time(then: datetime, text: str) -> SafeString:
    return format_html('<time datetime="{}" title="{}">{}</time>', then.isoformat(timespec="seconds"), full_time(then), text)
