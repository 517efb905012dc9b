"""Divide a text into named sections, both in a model's output and in its input.

Read contract.py first, then markdown.py and xml.py.
"""

from __future__ import annotations

from chainviz.core.errors import OptionsError
from chainviz.core.text_formats.contract import TextFormat
from chainviz.core.text_formats.markdown import Markdown
from chainviz.core.text_formats.xml import Xml

TEXT_FORMATS: tuple[TextFormat, ...] = (Markdown(), Xml())


def get_text_format(name: str) -> TextFormat:
    """Return the text format of this name. Raises OptionsError if there is none."""
    for text_format in TEXT_FORMATS:
        if text_format.name == name:
            return text_format
    names = ", ".join(text_format.name for text_format in TEXT_FORMATS)
    raise OptionsError(f"There is no text format “{name[:40]}”; choose one of {names}.")
