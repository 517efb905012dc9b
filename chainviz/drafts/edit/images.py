"""Image files that a form of a node sends: each stands for its address, as a data: URL."""

from __future__ import annotations

from base64 import b64encode

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, QueryDict

from chainviz.core.errors import Refused
from chainviz.web.formatting.byte_text import byte_text

MOST_BYTES = 5_000_000
FILE, URL = "-file", "-url"


def with_images(request: HttpRequest) -> QueryDict:
    """Returns the fields of the form; Refused where a file is no image or too large."""
    form = request.POST.copy()
    for name, file in request.FILES.items():
        if not isinstance(file, UploadedFile) or not name.endswith(FILE) or not file.size:
            continue
        kind = file.content_type or ""
        if not kind.startswith("image/"):
            raise Refused(f"{file.name} is not an image.")
        if file.size > MOST_BYTES:
            raise Refused(f"{file.name} is {byte_text(file.size)}; an image in a chain can have up to {byte_text(MOST_BYTES)}.")
        form[name.removesuffix(FILE) + URL] = f"data:{kind};base64,{b64encode(file.read()).decode()}"
    return form
