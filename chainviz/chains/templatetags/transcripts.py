"""Problems and text of a transcript in a template: `{{ problem.text|marks }}`, `{{ problem|without_fix }}`, `{{ problem|rule_help }}`."""

from __future__ import annotations

from urllib.parse import urlencode

from django import template
from django.urls import reverse

from chainviz.chains.explorer.pasted_error import looks_like_error
from chainviz.chains.folders.opening import following
from chainviz.chains.render.visible_text import marks
from chainviz.core.chain.problems import Problem
from chainviz.core.providers.contract import NOT_UNDERSTOOD
from chainviz.core.providers.rules import reason_without_fix, rule_anchor

register = template.Library()
register.filter("marks", marks)
register.simple_tag(following, name="following")
register.filter("without_fix", reason_without_fix)


@register.filter
def rule_help(problem: Problem) -> str:
    """Return the address of the rule in the help; "" for a problem of the structure, and for content that is not understood."""
    if not problem.provider or problem.rule == NOT_UNDERSTOOD.id:
        return ""
    return f"{reverse('help:page', args=['provider-rules'])}#{rule_anchor(problem.provider, problem.rule)}"


@register.filter
def error_search(words: str) -> str:
    """Return the address at which the library explains an API error that was typed into another search field; "" for
    other words."""
    return f"{reverse('chains:library')}?{urlencode({'q': words})}" if looks_like_error(words) else ""
