"""Finds, leaves out what was declined, and masks the rest; a value masked once is masked wherever else it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chainviz.core.chain import Chain, Splice
from chainviz.core.message_paths import message_paths
from chainviz.core.messages import Message
from chainviz.core.operations.contract import Context, Decision, Outcome
from chainviz.core.operations.mask.options import MaskOptions
from chainviz.core.paths import Path
from chainviz.core.secrets import Finding, Masker, Values, mask, scan_message

STRETCH = 200
"""Messages read at a time."""


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


def spot(chain: Chain, options: MaskOptions) -> Iterator[Spotted]:
    """Everything the chosen rules find, declined or not, in the order of the chain."""
    rules = options.chosen()
    for (index, message), path in zip(_messages(chain), message_paths(chain.tree), strict=True):
        for finding in scan_message(message, rules):
            yield Spotted(index, str(Path(path.section, path.pair, path.message, finding.part)), finding)


class Mask:
    name = "mask"
    label = "Mask secrets"
    Options = MaskOptions

    def run(self, chain: Chain, options: MaskOptions, context: Context) -> Outcome:
        masker = Masker(options.strategy)
        accepted: dict[int, list[Spotted]] = {}
        declined: set[str] = set()
        for each in spot(chain, options):
            if each.id in options.decline:
                declined.add(each.finding.value)
            else:
                masker.placeholder(each.finding.rule, each.finding.value)
                accepted.setdefault(each.message, []).append(each)
        # a value that is none in one place is masked only where it was found
        values = Values({v: p for v, p in masker.placeholders.items() if v not in declined})
        changes: list[Splice] = []
        report: list[Decision] = []
        for index, message in _messages(chain):
            found = accepted.get(index, [])
            masked = mask(message, [each.finding for each in found], masker)
            new = values.mask(masked)
            report += _rows(found, masker)
            if new is not message:
                changes.append(Splice(index, 1, (new,)))
        return Outcome(tuple(changes), tuple(report), tuple(_warnings(accepted)))


def _messages(chain: Chain) -> Iterator[tuple[int, Message]]:
    for start in range(0, len(chain), STRETCH):
        yield from enumerate(chain.slice(start, min(start + STRETCH, len(chain))), start)


def _rows(found: Sequence[Spotted], masker: Masker) -> Iterator[Decision]:
    for each in found:
        rule, value = each.finding.rule, each.finding.value
        size = len(value.encode("utf-8", "surrogatepass"))
        after = len(masker.placeholder(rule, value).encode("utf-8", "surrogatepass"))
        yield Decision(each.path, "mask", f"{rule.label} in the {each.finding.place}", size, after)


def _warnings(accepted: dict[int, list[Spotted]]) -> Iterator[str]:
    if accepted:
        yield "Versions before this one still hold what was masked; only a purge takes it out of them."
