"""Text that stems from a transcript, in a template: `{{ problem.text|marks }}`."""

from __future__ import annotations

from django import template

from chainviz.chains.render.visible_text import marks

register = template.Library()
register.filter("marks", marks)
