"""Writers of summaries. Only this folder calls a language model."""

from __future__ import annotations

from dataclasses import replace

from chainviz.core.errors import OptionsError
from chainviz.core.operations.summarize import Extractive, Manual, Writer
from chainviz.llm.endpoint import Endpoint, Watch, Written, write_all
from chainviz.llm.openai_writer import OpenAIWriter

WRITERS: tuple[Writer, ...] = (Extractive(), Manual(), OpenAIWriter())

__all__ = ["WRITERS", "Endpoint", "Watch", "Writer", "Written", "offered", "write_all", "writer_named"]


def writer_named(name: str, endpoint: Endpoint) -> Writer:
    """Return the writer with that name, knowing the operator's endpoint where it needs one."""
    for writer in WRITERS:
        if writer.name == name:
            return replace(writer, endpoint=endpoint) if isinstance(writer, OpenAIWriter) else writer
    raise OptionsError(f"There is no writer “{name}”; choose one of {', '.join(each.name for each in WRITERS)}.")


def offered(endpoint: Endpoint) -> tuple[Writer, ...]:
    """Return the writers that a page may offer: a model only if the operator has named one."""
    writers = (writer_named(writer.name, endpoint) for writer in WRITERS)
    return tuple(writer for writer in writers if not isinstance(writer, OpenAIWriter) or endpoint.base_url)
