"""What APIs say of a chain that was written in their format, judged by reading the written bytes again."""

from __future__ import annotations

from collections.abc import Mapping

from chainviz.core.chain.parse import parse
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.documents.source import open_source
from chainviz.core.errors import DocumentError
from chainviz.core.load import load_source
from chainviz.core.providers import PROVIDERS, get_provider
from chainviz.core.providers.check import check_all
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.request import request_of
from chainviz.core.providers.verdict import Verdict, verdict_of


def judge_written(content: bytes, format: str, provider: str = "") -> dict[Provider, Verdict]:
    """Reads a document in a format and returns the verdict of each provider with whose API chains of this format are made, or of
    the one that is named. What cannot be read again as one chain is not fully checked."""
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
    return {
        each: verdict_of([*each.unread(unread), *(problem for provider, problem in found if provider is each)]) for each in asked
    }


def verdict_lines(verdicts: Mapping[str, Verdict]) -> list[str]:
    """Verdicts by the name of their provider, a line each."""
    return [f"{get_provider(name).label}: {verdict.text}" for name, verdict in verdicts.items()]
