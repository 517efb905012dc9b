"""Masking as a step of a draft: parts by the operation, and the same values wherever else the document holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from chainviz.chains.audit import records as audit
from chainviz.chains.secrets.outside_parts import Beside, Report, beside
from chainviz.core import formats
from chainviz.core.chain.chain import Splice
from chainviz.core.documents.context import Surroundings
from chainviz.core.errors import Refused
from chainviz.core.operations.contract import Context, Decision
from chainviz.core.operations.mask import MASK, Chosen, MaskOptions, choose, in_source, masked
from chainviz.core.secrets import own_rules
from chainviz.drafts.models import Draft
from chainviz.drafts.services import adding
from chainviz.drafts.target import Ground
from chainviz.store.content.chain import StoredChain
from chainviz.store.history.steps import NewStep
from chainviz.store.transfer.document_context import rewritten


@dataclass(frozen=True, slots=True)
class Prepared:
    """What masking would do, before anything is written."""

    options: MaskOptions
    changes: tuple[Splice, ...]
    report: tuple[Decision, ...]
    surroundings: Surroundings | None
    places: tuple[tuple[str | int, ...], ...]
    """Of each value its placeholder and one place where it stood: which of the changed messages, part, text, from, to; or
    -1, which of the pieces around them, "", from, to."""


def prepare(chain: StoredChain, options: MaskOptions, report: Report = lambda done, text: None) -> Prepared:
    """Refused where nothing is to be masked."""
    rules = options.chosen()
    found = list(beside(chain, rules, lambda done, text: report(done * 0.2, f"Looking around: {text}")))
    others = [each.finding for each in found if each.id not in options.decline]
    looking = Context(progress=lambda done, text: report(0.2 + done * 0.4, f"Looking: {text}"))
    chosen = choose(chain, options, looking, others)
    if not chosen.masker.placeholders:
        raise Refused("Nothing is chosen, so there is nothing to mask.")
    format = formats.get_format(chain.format)
    changes: list[Splice] = []
    rows: list[Decision] = []
    for each in masked(chain, chosen, Context(progress=lambda done, text: report(0.6 + done * 0.4, f"Masking: {text}"))):
        rows += each.report
        new = in_source(each, chosen.values, format)
        if new is not each.old:
            changes.append(Splice(each.index, 1, (new,)))
    surroundings = rewritten(chain.snapshot, chosen.values.mask_piece)
    places = _places(chosen, [change.start for change in changes], found)
    return Prepared(options, tuple(changes), tuple(rows), surroundings, tuple(places))


def _places(chosen: Chosen, changed: Sequence[int], around: Sequence[Beside]) -> Iterator[tuple[str | int, ...]]:
    told: set[str] = set()
    at = {index: number for number, index in enumerate(changed)}
    inside = [(each.finding, at[index], each.finding.part) for index in at for each in chosen.accepted.get(index, ())]
    for finding, number, part in (*inside, *((each.finding, -1, each.piece) for each in around if each.piece >= 0)):
        placeholder = chosen.masker.placeholders.get(finding.value)
        if placeholder is not None and finding.value not in told:
            told.add(finding.value)
            yield placeholder, number, part, finding.place, finding.start, finding.end


def take(ground: Ground, user: Any, prepared: Prepared) -> Draft:
    """A step whose export holds none of the masked values."""
    with taking(ground, user, prepared) as draft:
        return draft


@contextmanager
def taking(ground: Ground, user: Any, prepared: Prepared) -> Iterator[Draft]:
    """As `take`; the block is part of the transaction that makes the step."""
    options = prepared.options
    # a pattern may spell out the very value, so it is counted and not kept
    counts = {"declined": len(options.decline), "own_patterns": len(own_rules(options.own_patterns))}
    said = options.model_dump(exclude_defaults=True, exclude={"decline", "own_patterns"}) | counts
    said["places"] = prepared.places
    step = NewStep(prepared.changes, MASK.name, said, prepared.report, surroundings=prepared.surroundings)
    record = {
        "strategy": options.strategy,
        "look_for": options.look_for,
        **counts,
        "rows": [[row.path, row.reason, row.bytes_before, row.bytes_after] for row in prepared.report],
    }
    with adding(ground, user, step) as draft:
        audit.note(ground.chain, user, "mask", record, version=ground.version.number, draft=draft.pk)
        yield draft
