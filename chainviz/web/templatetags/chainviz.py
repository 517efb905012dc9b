"""Template tags that every template has without loading them: icons, sizes, numbers, code in a text and texts in fields."""

from __future__ import annotations

from django import template
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from chainviz.web.formatting.byte_text import byte_text
from chainviz.web.formatting.text_fields import for_field

register = template.Library()


@register.simple_tag
def icon(name: str, css_class: str = "") -> SafeString:
    """One symbol of static/icons/icons.svg; always beside a word or inside a labelled control, so hidden from readers."""
    classes = f"icon {css_class}".rstrip()
    return format_html(
        '<svg class="{}" aria-hidden="true"><use href="{}#{}"/></svg>', classes, static("icons/icons.svg"), name
    )


@register.filter("bytes")
def bytes_filter(size: int | None) -> str:
    return "" if size is None else byte_text(size)


@register.filter
def thousands(count: int | None) -> str:
    """1234567 as 1,234,567."""
    return "" if count is None else f"{count:,}"


@register.filter
def code_spans(text: str) -> SafeString:
    """The text with what lies between backticks as code."""
    spans = enumerate(text.split("`"))
    return format_html_join("", "{}", ((format_html("<code>{}</code>", span) if at % 2 else span,) for at, span in spans))


register.filter("field_text", for_field)
