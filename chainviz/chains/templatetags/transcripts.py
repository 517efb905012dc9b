"""Problems and text of a transcript in a template: `{{ problem.text|marks }}`, `{{ problem|without_fix }}`."""

from __future__ import annotations

from django import template

from chainviz.chains.folders.following import following
from chainviz.chains.render.visible_text import marks
from chainviz.core.providers.without_fix import reason_without_fix

register = template.Library()
register.filter("marks", marks)
register.simple_tag(following, name="following")
register.filter("without_fix", reason_without_fix)
