"""Mark the rows of the library that look different now: `{% row_marks rows drafts jobs as marks %}`."""

from __future__ import annotations

from django import template

from chainviz.chains.library.refresh import changed_rows, row_marks
from chainviz.chains.verdicts import rule_words

register = template.Library()
register.simple_tag(row_marks)
register.simple_tag(changed_rows)
register.filter(rule_words)
