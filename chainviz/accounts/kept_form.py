"""A form that was sent after its session had ended waits in the page that asks to sign in, and is sent again afterwards.

The server stores nothing: a hidden field of that page carries the form, signed, so that only what was really sent here
comes back. The person sends it again with a click; the page never sends it automatically.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.core import signing
from django.http import HttpRequest

from chainviz.web.errors import sent_texts

FIELD = "kept_form"
SALT = "chainviz.kept-form"
VALID_FOR = 24 * 3600
"""Seconds."""
LARGEST = 32_000_000
"""Bytes of a form: what the server reads of one at all."""
MOST_KEPT = 24_000_000
"""Characters of the hidden field, which is compressed; the form that carries it must be below the same limit."""


@dataclass(frozen=True, slots=True)
class KeptForm:
    address: str
    fields: list[tuple[str, str]]
    """In the order of the form, those included that nobody types."""
    texts: list[tuple[str, str]]
    """Of the fields, what a person may have typed."""
    has_files: bool
    """Files were sent too; they have to be chosen again."""


class TooLarge(Exception):
    """What was sent cannot wait in a page."""


def keep(request: HttpRequest) -> str:
    """Returns the value of the hidden field; empty where the form holds nothing typed. Raises TooLarge."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdigit() and int(length) > LARGEST:
        raise TooLarge
    texts = sent_texts(request, LARGEST)
    if not texts:
        return ""
    fields = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name != "csrfmiddlewaretoken" and "password" not in name
    ]
    form = [request.get_full_path(), fields, texts, bool(request.FILES)]
    value = signing.dumps(form, salt=SALT, compress=True)
    if len(value) > MOST_KEPT:
        raise TooLarge
    return value


def kept_form(request: HttpRequest) -> KeptForm | None:
    """Returns what the sign-in form carries; None where it carries nothing that was kept here in the last day."""
    try:
        address, fields, texts, has_files = signing.loads(request.POST.get(FIELD, ""), salt=SALT, max_age=VALID_FOR)
    except signing.BadSignature:
        return None
    return KeptForm(address, fields, texts, has_files)
