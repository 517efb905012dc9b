"""Django's templates, for texts of transcripts: a lone surrogate, which no page can hold, shows as U+FFFD."""

from __future__ import annotations

import re
from typing import Any

from django.http import HttpRequest
from django.template.backends.django import DjangoTemplates, Template
from django.utils.safestring import SafeString, mark_safe

_SURROGATE = re.compile("[\ud800-\udfff]")


class TranscriptTemplate(Template):
    def render(self, context: Any = None, request: HttpRequest | None = None) -> SafeString:
        return mark_safe(_SURROGATE.sub("\ufffd", super().render(context, request)))


class TranscriptTemplates(DjangoTemplates):
    def from_string(self, template_code: str) -> Template:
        return TranscriptTemplate(super().from_string(template_code).template, self)

    def get_template(self, template_name: str) -> Template:
        return TranscriptTemplate(super().get_template(template_name).template, self)
