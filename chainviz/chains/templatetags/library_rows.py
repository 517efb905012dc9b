"""Which rows of the library look different now: `{% row_marks rows drafts jobs as marks %}`."""

from __future__ import annotations

from django import template

from chainviz.chains.library.refresh import changed_rows, row_marks

register = template.Library()
register.simple_tag(row_marks)
register.simple_tag(changed_rows)
