"""Times as people read them: relative in the text, absolute in the title."""

from __future__ import annotations

from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from chainviz.web.formatting.relative_time import day_text, full_time, relative_time

register = template.Library()


@register.simple_tag
def ago(then: datetime) -> SafeString:
    return _time(then, relative_time(then, timezone.now()))


@register.simple_tag
def day(then: datetime) -> SafeString:
    return _time(then, day_text(then, timezone.now()))


def _time(then: datetime, text: str) -> SafeString:
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', then.isoformat(timespec="seconds"), full_time(then), text
    )
