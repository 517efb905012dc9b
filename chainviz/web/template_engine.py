"""Django's templates with two additions, and static files under hashed names.

A lone surrogate of a transcript, which no page can contain, shows as U+FFFD.

Line breaks in a template are layout for its readers, as in JSX: a line break with its indentation is not sent when it stands
beside an HTML tag or a template tag, and is one space between words. A space that a page needs beside a tag is written on the
line. Inside an HTML tag a line break is one space, but none before a template tag: `{% if is_on %} checked{% endif %}` brings its
own. The contents of `textarea` and `pre` stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from django.http import HttpRequest
from django.template import Origin
from django.template.backends.django import DjangoTemplates, Template
from django.template.loaders.filesystem import Loader
from django.utils.safestring import SafeString, mark_safe
from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    support_js_module_import_aggregation = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # addresses do not change while the server runs, and a page has sixty of them
        self.url: Callable[..., str] = cache(super().url)


_SURROGATE = re.compile("[\ud800-\udfff]")
_HTML_TAG = r"""<(?:(textarea|pre)\b|/?[a-z!])(?:{%.*?%}|{{.*?}}|"(?:{%.*?%}|{{.*?}}|[^"])*+"|'(?:{%.*?%}|{{.*?}}|[^'])*+'|[^>])*+>"""
_TOKENS = re.compile(rf"({_HTML_TAG})((?(2).*?</\2>))|{{%.*?%}}|{{#.*?#}}", re.DOTALL | re.IGNORECASE)
_LINE_BREAK = re.compile(r"\s*\n\s*")
_BEFORE_TEMPLATE_TAG = re.compile(r"\s*\n\s*(?={%)")


class TranscriptTemplate(Template):
    def render(self, context: Any = None, request: HttpRequest | None = None) -> SafeString:
        return mark_safe(_SURROGATE.sub("\ufffd", super().render(context, request)))


class TranscriptTemplates(DjangoTemplates):
    def from_string(self, template_code: str) -> Template:
        return TranscriptTemplate(super().from_string(template_code).template, self)

    def get_template(self, template_name: str) -> Template:
        return TranscriptTemplate(super().get_template(template_name).template, self)


class OneLineLoader(Loader):
    """Load a template from the file system without its line breaks."""

    def get_contents(self, origin: Origin) -> str:
        return join_lines(super().get_contents(origin))


def join_lines(source: str) -> str:
    """Return the source of a template as the pages need it, without indentation."""
    joined, start = [], 0
    for token in _TOKENS.finditer(source):
        joined.append(_join_words(source[start : token.start()]))
        joined.append(_join_attributes(token[1]) + token[3] if token[1] else token[0])
        start = token.end()
    return "".join((*joined, _join_words(source[start:])))


def _join_attributes(tag: str) -> str:
    return _LINE_BREAK.sub(" ", _BEFORE_TEMPLATE_TAG.sub("", tag))


def _join_words(text: str) -> str:
    """Join the lines of a text between two tags."""
    return _LINE_BREAK.sub(lambda match: " " if match.start() > 0 and match.end() < len(text) else "", text)
