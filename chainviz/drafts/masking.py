"""Masking as a step of a draft: parts by the operation, and the same values wherever else the document holds them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.db import transaction

from chainviz.chains import audit
from chainviz.core import formats
from chainviz.core.chain import Splice
from chainviz.core.errors import Refused
from chainviz.core.formats.contract import Format, Style
from chainviz.core.messages import Message
from chainviz.core.operations.contract import Context
from chainviz.core.operations.mask import MASK, MaskOptions, spot
from chainviz.core.secrets import Masker, Values, own_rules
from chainviz.drafts.access import Ground
from chainviz.drafts.models import Draft
from chainviz.drafts.services import held
from chainviz.store import drafts as store
from chainviz.store.chain import StoredChain
from chainviz.store.surroundings import rewritten

STRETCH = 200
_BARE = re.compile(r"-?[0-9][0-9.]*")


def mask(ground: Ground, user: Any, options: MaskOptions) -> tuple[Draft, tuple[str, ...]]:
    """A step whose export holds none of the masked values; its draft and what the person should know."""
    outcome = MASK.run(ground.stored, options, Context())
    if not outcome.changes:
        raise Refused("Nothing is chosen, so there is nothing to mask.")
    values = values_of(ground.stored, options)
    changes = tuple(everywhere(ground.stored, outcome.changes, values))
    surroundings = rewritten(ground.stored.snapshot, lambda text: masked_piece(values, text))
    # a pattern may spell out the very value, so it is counted and not kept
    counts = {"declined": len(options.decline), "own_patterns": len(own_rules(options.own_patterns))}
    said = options.model_dump(exclude_defaults=True, exclude={"decline", "own_patterns"}) | counts
    with transaction.atomic():
        kept, draft = held(ground, user)
        store.add_step(
            kept, changes, operation=MASK.name, options=said, report=outcome.report, surroundings=surroundings
        )
        record = {
            "strategy": options.strategy,
            "look_for": options.look_for,
            **counts,
            "rows": [[row.path, row.reason, row.bytes_before, row.bytes_after] for row in outcome.report],
        }
        audit.note(ground.chain, user, "mask", record, version=ground.version.number, draft=draft.pk)
    return draft, outcome.warnings


def values_of(chain: StoredChain, options: MaskOptions) -> Values:
    """Values that are masked wherever they stand: found, and declined nowhere."""
    masker = Masker(options.strategy)
    declined = set()
    for each in spot(chain, options):
        if each.id in options.decline:
            declined.add(each.finding.value)
        else:
            masker.placeholder(each.finding.rule, each.finding.value)
    return Values({value: new for value, new in masker.placeholders.items() if value not in declined})


def everywhere(chain: StoredChain, changes: tuple[Splice, ...], values: Values) -> Iterator[Splice]:
    """The changes of the operation, and those of messages whose source holds a value outside its parts."""
    format = formats.get_format(chain.format)
    changed = {change.start: change.messages[0] for change in changes}
    for index, message in _messages(chain):
        new = _without(changed.get(index, message), message, values, format)
        if new is not message:
            yield Splice(index, 1, (new,))


def _without(new: Message, old: Message, values: Values, format: Format) -> Message:
    if new is not old:
        near = old.source[0].text if old.source else ""
        new = replace(new, source=format.write(new, Style(near, near.isascii())))
    masked = values.mask_source(new)
    return new if masked is new else format.message(masked.role, masked.source)


def masked_piece(values: Values, text: str) -> str:
    """A piece of a document, which is no JSON by itself: a bare number gives way to a string."""
    pieces: list[str] = []
    at = 0
    for start, end, new in values.spans(text):
        is_bare = _BARE.fullmatch(text[start:end]) and not (
            text[start - 1 : start] == '"' or text[end : end + 1] == '"'
        )
        before, after = text[at:start].rstrip()[-1:], text[end:].lstrip()[:1]
        quoted = is_bare and before in (":", ",", "[") and after in (",", "]", "}", "")
        pieces += (text[at:start], f'"{new}"' if quoted else new)
        at = end
    return "".join((*pieces, text[at:]))


def _messages(chain: StoredChain) -> Iterator[tuple[int, Message]]:
    for start in range(0, len(chain), STRETCH):
        yield from enumerate(chain.slice(start, min(start + STRETCH, len(chain))), start)
