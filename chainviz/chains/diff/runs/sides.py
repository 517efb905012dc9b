"""The two chains of a comparison: how an address names them, and what is recorded of each."""

from __future__ import annotations

from django.http import Http404, HttpRequest

from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.views.chain import version_subject
from chainviz.chains.usage import models, recorded_times, recorded_usage
from chainviz.chains.verdicts import verdicts_by_provider
from chainviz.core.diff.runs.recorded_outcome import recorded_outcome
from chainviz.core.diff.runs.run_facts import RunFacts, outcome_of
from chainviz.store.content.codec import unpack
from chainviz.store.outline.measures import unpack_charts
from chainviz.store.transfer.document_context import context_of


def subject_named(request: HttpRequest, reference: str) -> Subject:
    """`12` is the newest version of chain 12, `12.3` its version 3."""
    numbers = reference.split(".")
    if len(numbers) > 2 or not all(each.isascii() and each.isdecimal() and 0 < len(each) < 10 for each in numbers):
        raise Http404("A chain is named by its number, or its number and a version, such as 12.3.")
    return version_subject(request, *map(int, numbers))


def facts_of(subject: Subject) -> RunFacts:
    snapshot, outline = subject.snapshot, subject.outline
    usage, tools = recorded_usage(outline), unpack_charts(outline.charts).tools
    return RunFacts(
        messages=snapshot.messages,
        pairs=snapshot.pairs,
        size=snapshot.size,
        problems=outline.errors + outline.warnings,
        verdicts={
            provider.label: said.text for provider, said in verdicts_by_provider(unpack(outline.verdicts)).items()
        },
        usage=usage.total if usage.is_recorded else None,
        model=usage.model,
        cost=usage.cost(models()) if usage.is_recorded else None,
        seconds=recorded_times(outline).seconds,
        tools={name: counts[0] for name, counts in tools.items() if counts[0]},
        tool_errors=sum(counts[4] for counts in tools.values()),
        labels=tuple(label.text for label in subject.chain.labels.filter(path="").order_by("kind", "pk")),
        outcome=outcome_of(subject.stored),
        recorded_outcome=recorded_outcome(context_of(snapshot)),
    )
