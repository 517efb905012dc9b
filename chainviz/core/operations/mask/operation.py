"""Finds, leaves out what was declined, and masks the rest; a value masked once is masked wherever else it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.message_paths import message_paths
from chainviz.core.chain.messages import Message
from chainviz.core.chain.paths import Path
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Format, Style
from chainviz.core.operations.contract import Context, Decision, Outcome
from chainviz.core.operations.mask.options import MaskOptions
from chainviz.core.secrets import Finding, Masker, Values, mask, scan_message

STRETCH = 200
"""Messages read at a time."""
QUIET = Context()
WARNINGS = ("Versions before this one still hold what was masked; only a purge takes it out of them.",)


@dataclass(frozen=True, slots=True)
class Spotted:
    """A finding and where it is. Its id says the place, not the value, so that it may be stored and logged."""

    message: int
    path: str
    finding: Finding

    @property
    def id(self) -> str:
        place = self.finding.place.replace(" ", "-")
        return f"{self.path}:{place}:{self.finding.start}"


def spot(chain: Chain, options: MaskOptions, context: Context = QUIET) -> Iterator[Spotted]:
    """Everything the chosen rules find, declined or not, in the order of the chain."""
    rules = options.chosen()
    for (index, message), path in zip(_messages(chain, context), message_paths(chain.tree), strict=True):
        for finding in scan_message(message, rules):
            yield Spotted(index, str(Path(path.section, path.pair, path.message, finding.part)), finding)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be masked, found in one walk through the chain."""

    masker: Masker
    accepted: dict[int, list[Spotted]]
    """By message."""
    values: Values
    """Those that are masked wherever they stand: found, and declined nowhere."""


@dataclass(frozen=True, slots=True)
class Masked:
    index: int
    old: Message
    new: Message
    """The old one itself where nothing of its parts is masked."""
    report: tuple[Decision, ...]


def choose(chain: Chain, options: MaskOptions, context: Context, around: Iterable[Finding] = ()) -> Chosen:
    """`around`: what was found in the document beside its messages; it is masked too, unless it was declined in them."""
    masker = Masker(options.strategy)
    accepted: dict[int, list[Spotted]] = {}
    declined: set[str] = set()
    for each in spot(chain, options, context):
        if each.id in options.decline:
            declined.add(each.finding.value)
        else:
            masker.placeholder(each.finding.rule, each.finding.value)
            accepted.setdefault(each.message, []).append(each)
    for beside in around:
        if beside.value not in declined:
            masker.placeholder(beside.rule, beside.value)
    # a value that is none in one place is masked only where it was found
    values = Values({v: p for v, p in masker.placeholders.items() if v not in declined})
    return Chosen(masker, accepted, values)


def masked(chain: Chain, chosen: Chosen, context: Context) -> Iterator[Masked]:
    """Every message of the chain."""
    for index, message in _messages(chain, context):
        found = chosen.accepted.get(index, [])
        new = chosen.values.mask(mask(message, [each.finding for each in found], chosen.masker))
        yield Masked(index, message, new, tuple(_rows(found, chosen.masker)))


def in_source(each: Masked, values: Values, format: Format) -> Message:
    """The new message as the format writes it, without the values in fields that are no part; the same where its source
    is not of this format."""
    new, old = each.new, each.old
    replaced = values.mask_source(old)
    if new is old and replaced is old:
        return old
    if not old.source or format.message(old.role, old.source) != old:
        return new
    again = format.message(old.role, replaced.source)
    if replace(again, source=()) == replace(new, source=()):
        return again  # nothing but the values is written anew
    if new is not old:
        near = old.source[0].text
        new = replace(new, source=format.write(new, Style(near, near.isascii())))
    masked = values.mask_source(new)
    return new if masked is new else format.message(masked.role, masked.source)


class Mask:
    name = "mask"
    label = "Mask secrets"
    Options = MaskOptions

    def run(self, chain: Chain, options: MaskOptions, context: Context) -> Outcome:
        chosen = choose(chain, options, context)
        format = get_format(chain.format)
        changes: list[Splice] = []
        report: list[Decision] = []
        for each in masked(chain, chosen, context):
            report += each.report
            new = in_source(each, chosen.values, format)
            if new is not each.old:
                changes.append(Splice(each.index, 1, (new,)))
        warnings = WARNINGS if chosen.accepted else ()
        return Outcome(tuple(changes), tuple(report), warnings, around=chosen.values.mask_piece)


def _messages(chain: Chain, context: Context) -> Iterator[tuple[int, Message]]:
    for start in range(0, len(chain), STRETCH):
        yield from enumerate(chain.slice(start, min(start + STRETCH, len(chain))), start)
        read = min(start + STRETCH, len(chain))
        context.progress(read / len(chain), f"{read:,} messages read")


def _rows(found: Sequence[Spotted], masker: Masker) -> Iterator[Decision]:
    for each in found:
        rule, value = each.finding.rule, each.finding.value
        size = len(value.encode("utf-8", "surrogatepass"))
        after = len(masker.placeholder(rule, value).encode("utf-8", "surrogatepass"))
        yield Decision(each.path, "mask", f"{rule.label} in the {each.finding.place}", size, after)
