"""The tray of uploads: a line a file, equal repeats as one line, what waits for a person first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chainviz.accounts.models import Membership
from chainviz.chains.models import Arrival
from chainviz.core.counts import count_text
from chainviz.store.prepared_query import PreparedQuery

FEW = 6
"""The most lines with which the tray is open at first."""

CHOOSE, FAILED, RUNNING, ADDED, KNOWN = "to choose", "failed", "importing", "added", "already uploaded"
_ORDER = (CHOOSE, FAILED, RUNNING, ADDED, KNOWN)
SHOWN = {RUNNING: 50, ADDED: FEW, KNOWN: FEW}
"""The most lines of an outcome that needs no action; earlier ones share one line."""
_LOOKS = {
    CHOOSE: ("open", "filter"),
    FAILED: ("problem", "problem"),
    RUNNING: ("quiet", "spinner"),
    ADDED: ("ok", "ok"),
    KNOWN: ("quiet", "copy"),
}


@dataclass(frozen=True, slots=True)
class TrayLine:
    arrival: Arrival
    """The newest of its repeats."""
    times: int = 1

    @property
    def outcome(self) -> str:
        return outcome_of(self.arrival)

    @property
    def look(self) -> str:
        return _LOOKS[self.outcome][0]

    @property
    def icon(self) -> str:
        return _LOOKS[self.outcome][1]

    @property
    def text(self) -> str:
        """The result in one sentence."""
        return _text(self.arrival, self.outcome)


@dataclass(frozen=True, slots=True)
class Earlier:
    """The lines of one outcome that are only counted."""

    outcome: str
    times: int

    @property
    def text(self) -> str:
        return f"{count_text(self.times, 'earlier file')} {self.outcome}"


@dataclass(frozen=True, slots=True)
class Tray:
    lines: Sequence[TrayLine]

    @property
    def visible_lines(self) -> list[TrayLine]:
        return [line for each in _ORDER for line in self._of(each)[-SHOWN.get(each, 0) :]]

    @property
    def earlier(self) -> list[Earlier]:
        left = {each: self._of(each)[:-count] for each, count in SHOWN.items()}
        return [Earlier(each, sum(line.times for line in lines)) for each, lines in left.items() if lines]

    @property
    def title(self) -> str:
        return count_text(sum(line.times for line in self.lines), "file")

    @property
    def summary(self) -> str:
        """Such as "10 added, 2 failed"."""
        counts = Counter[str]()
        for line in self.lines:
            counts[line.outcome] += line.times
        return ", ".join(f"{counts[outcome]} {outcome}" for outcome in _ORDER if counts[outcome])

    def _of(self, outcome: str) -> list[TrayLine]:
        return [line for line in self.lines if line.outcome == outcome]

    @property
    def is_open(self) -> bool:
        """While there is something to see or to do, and little enough of it that the table stays in view."""
        return len(self.lines) <= FEW and any(line.outcome not in (ADDED, KNOWN) for line in self.lines)


def tray_of(member: Membership, *, but: Arrival | None = None) -> Tray:
    """Return the files that a person sent; `but` is already elsewhere on the page."""
    return Tray(_merged(arrival for arrival in _arrivals_of(member.team_id, member.user_id) if arrival != but))


_arrivals_of = PreparedQuery(
    lambda team, person: Arrival.objects.visible_to(Membership(team_id=team, user_id=person)).select_related("job", "chain").order_by("pk")
)


def repeats_of(member: Membership, arrival: Arrival) -> list[Arrival]:
    """Return the files of one line of the tray."""
    arrivals = Arrival.objects.visible_to(member).select_related("job", "chain")
    return [each for each in arrivals if _same(each) == _same(arrival)]


def outcome_of(arrival: Arrival) -> str:
    if arrival.is_running:
        return RUNNING
    if arrival.is_failed:
        return FAILED
    return {Arrival.State.CHOOSING: CHOOSE, Arrival.State.KNOWN: KNOWN}.get(Arrival.State(arrival.state), ADDED)


def _merged(arrivals: Iterable[Arrival]) -> list[TrayLine]:
    newest: dict[tuple[object, ...], Arrival] = {}
    times = Counter[tuple[object, ...]]()
    for arrival in arrivals:
        newest[_same(arrival)] = arrival
        times[_same(arrival)] += 1
    lines = [TrayLine(arrival, times[key]) for key, arrival in newest.items()]
    return sorted(lines, key=lambda line: _ORDER.index(line.outcome))


def _same(arrival: Arrival) -> tuple[object, ...]:
    """Equal where two files are one line: the same file that ended alike."""
    outcome = outcome_of(arrival)
    if outcome == RUNNING or arrival.added:
        return (arrival.pk,)
    return arrival.name, arrival.size, outcome, arrival.chain_id, arrival.sentence


def _text(arrival: Arrival, outcome: str) -> str:
    chain = arrival.chain
    if outcome == RUNNING:
        return arrival.doing or "waiting"
    if outcome == FAILED:
        return arrival.sentence
    if outcome == CHOOSE:
        count = len(arrival.found)
        return f"holds {count:,} chains" if count > 1 else "can be read in more than one format"
    if outcome == KNOWN and chain is None:
        return "was deleted from the library; upload it again to restore it"
    if outcome == KNOWN and chain is not None:
        return "already uploaded, in the bin" if chain.is_in_bin else f"already uploaded, now at version {chain.version}"
    if chain is not None:
        return f"added, {count_text(chain.messages, 'message')}"
    return f"{count_text(len(arrival.added) or arrival.made, 'chain')} added"
