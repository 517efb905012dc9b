"""The mark of an agent on pages: two letters and a hue, since logos are trademarks."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from chainviz.chains.library.agents import agent_view

register = template.Library()


@register.simple_tag
def agent_mark(name: str) -> SafeString:
    agent = agent_view(name)
    letters, hue = (agent.letters, str(agent.hue)) if agent else ("·", "")
    return format_html('<span class="agent-mark" data-hue="{}" aria-hidden="true">{}</span>', hue, letters)
