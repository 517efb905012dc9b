"""Find what a conversion loses: message fields that the target does not store. Then check the written document against the rules of the
target's API.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chainviz.core.chain.messages import Message
from chainviz.core.chain.tree import parse
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.documents.source import open_source
from chainviz.core.errors import DocumentError
from chainviz.core.formats.contract import Format, Style
from chainviz.core.formats.conversion import without_source
from chainviz.core.formats.vendors import PROVIDERS, get_provider
from chainviz.core.load import load_source
from chainviz.core.providers.check import Verdict, check_all, verdict_of
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.request import request_of
from chainviz.core.secrets.part_texts import fields

MOST_NAMED = 8
FIELD_WORDS = {
    "api": "API", "created": "times", "createdat": "times", "errormessage": "error messages", "finishreason": "stop reasons",
    "metadata": "metadata", "model": "models", "provider": "providers", "stopreason": "stop reasons", "timestamp": "times",
    "usage": "recorded tokens", "cachecontrol": "cache marks",
}  # fmt: skip
"""The names of well-known fields, by their key without case, `_` and `-`."""
Keys = tuple[str, ...]


class FieldsLeftOut:
    """Counts the fields of messages that are not parts and that their format does not write."""

    def __init__(self, format: Format) -> None:
        self._format = format
        self._own: set[Keys] = set()
        self._found: Counter[Keys] = Counter()

    def add(self, message: Message) -> None:
        if not message.source or not self._format.writes:
            return
        written = self._format.write(without_source(message), Style(near=message.source[0].text))
        for fragment in written:
            self._own.update(_keys_in(fragment.text))
        pointers = {field.pointer for field in fields(message, self._format.blocks_at)}
        self._found.update({_keys(pointer) for pointer in pointers})

    def sentences(self) -> Iterator[str]:
        names: Counter[str] = Counter()
        for keys, count in self._found.items():
            unknown = next((end for end in range(1, len(keys) + 1) if keys[:end] not in self._own), 0)
            if unknown:
                names[".".join(keys[:unknown])] += count
        if names:
            words = dict.fromkeys(FIELD_WORDS.get(_plain_key(name), name) for name, _ in names.most_common())
            yield f"Left out of messages: {_names_text(list(words))}."


def _plain_key(name: str) -> str:
    return name.rpartition(".")[2].lower().replace("_", "").replace("-", "")


def _keys(pointer: str) -> Keys:
    return tuple(step for step in pointer.split("/")[1:] if not step.isdecimal())


def _keys_in(text: str) -> Iterator[Keys]:
    try:
        waiting: list[tuple[Keys, Any]] = [((), json.loads(text))]
    except (ValueError, RecursionError):
        return
    while waiting:
        keys, value = waiting.pop()
        yield keys
        if isinstance(value, dict):
            waiting += [((*keys, key), each) for key, each in value.items()]
        elif isinstance(value, list):
            waiting += [(keys, each) for each in value]


def _names_text(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(name[:60] for name in names[:MOST_NAMED]) + more


def judge_written(content: bytes, format: str, provider: str = "") -> dict[Provider, Verdict]:
    """Read a document and return the verdict of each provider of its format, or of the named provider. A document that cannot be read as
    one chain is not fully checked."""
    asked = (get_provider(provider),) if provider else tuple(each for each in PROVIDERS if each.is_of(format))
    with open_source(content) as source:
        try:
            chains = load_source(source, format)
        except DocumentError:
            chains = []
        if len(chains) != 1:
            return dict.fromkeys(asked, Verdict(unchecked=1))
        (chain,) = chains
        request = request_of(DocumentContext(chain.envelope, source.read))
    found = list(check_all(asked, parse(chain.messages), format, request))
    unread = chain.envelope.unread
    return {each: verdict_of([*each.unread(unread), *(problem for provider, problem in found if provider is each)]) for each in asked}


def verdict_lines(verdicts: Mapping[str, Verdict]) -> list[str]:
    """Return a line for each verdict, with the name of its provider."""
    return [f"{get_provider(name).label}: {verdict.text}" for name, verdict in verdicts.items()]
