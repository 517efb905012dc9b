"""Convert the tools and settings of a request to another format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chainviz.core.chain.chain import Chain
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Format
from chainviz.core.formats.requests.convert_request import called_names, read_request, write_document
from chainviz.core.formats.requests.settings import sentences


def new_request(chain: Chain, format: Format, *, model: str = "", is_line: bool = False) -> tuple[str, tuple[str, ...]]:
    """Return the new document without messages ("" for the format's template), and a sentence for each loss.

    `model` is the model in the new request; "" keeps the old one within a provider's formats.
    """
    old = read_request(chain, get_format(chain.format))
    settings = old.settings
    if model and format.request is not None:
        settings = replace(settings, model=model, family=format.request.family)
    new = write_document(format, settings, called_names(chain), is_line=is_line)
    return new.text, (*sentences((*new.changes, *old.left_out), format.label), *_other_lines(old.lines))


def _other_lines(count: int) -> Iterator[str]:
    if count:
        yield f"{count:,} {'other line of the file is' if count == 1 else 'other lines of the file are'} left out."
