"""Where a chain holds secrets: places and rules, never values, so that what is found may be stored with a job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.conf import settings

from chainviz.core.errors import Refused
from chainviz.core.message_paths import message_paths
from chainviz.core.messages import Message
from chainviz.core.paths import Path, parse_path
from chainviz.core.secrets import RULES, Finding, fingerprint, get_rule, scan_message
from chainviz.core.secrets.places import texts_of
from chainviz.core.secrets.rule import Rule
from chainviz.store.chain import StoredChain

AT_ONCE = 4_000_000
"""Bytes of content that are scanned while a page is made; more is a job."""
MOST = 50_000
"""Findings that are listed."""
STRETCH = 200
CONTEXT = 70
Report = Callable[[float, str], None]


@dataclass(frozen=True, slots=True)
class Spot:
    """A finding without its value."""

    path: str
    """Of the part."""
    rule: str
    place: str
    """Which of the part's texts."""
    start: int
    end: int
    mark: str
    """The same for the same value; keyed, so that it tells nothing else."""
    own: Rule | None = field(default=None, repr=False)
    """The rule itself, where a person wrote it for this look: it is never stored."""

    @property
    def id(self) -> str:
        """As the mask operation names it."""
        return f"{self.path}:{self.place.replace(' ', '-')}:{self.start}"

    @property
    def of_rule(self) -> Rule:
        found = self.own or get_rule(self.rule)
        assert found is not None
        return found

    def packed(self) -> list[Any]:
        return [self.path, self.rule, self.place, self.start, self.end, self.mark]


def scan(chain: StoredChain, report: Report = lambda done, text: None, rules: Sequence[Rule] = RULES) -> Iterator[Spot]:
    """In the order of the chain."""
    paths = message_paths(chain.tree)
    for start in range(0, len(chain), STRETCH):
        messages = chain.slice(start, min(start + STRETCH, len(chain)))
        for message, path in zip(messages, paths, strict=False):
            yield from (_spot(path, found) for found in scan_message(message, rules))
        report(min(1.0, (start + STRETCH) / max(1, len(chain))), f"{start + len(messages):,} messages read")


def with_own(chain: StoredChain, spots: Sequence[Spot], own: Sequence[Rule]) -> list[Spot]:
    """Those spots and what the person's own rules find beside them, in the order of the chain."""
    return sorted((*spots, *_of_own(chain, own)), key=_order) if own else list(spots)


def _of_own(chain: StoredChain, own: Sequence[Rule]) -> Iterator[Spot]:
    left = MOST
    paths = message_paths(chain.tree)
    for start in range(0, len(chain), STRETCH):
        for message, path in zip(chain.slice(start, min(start + STRETCH, len(chain))), paths, strict=False):
            matches = sum(1 for _ in islice(_matches(message, own), left + 1))
            left -= matches
            if left < 0:
                raise Refused(f"Your own patterns match more than {MOST:,} times here; make them narrower.")
            # only together with the known rules is it plain which matches are taken already
            for found in scan_message(message, (*RULES, *own)) if matches else ():
                if found.rule in own:
                    yield _spot(path, found)


def _matches(message: Message, rules: Sequence[Rule]) -> Iterator[object]:
    for part in message.parts:
        for _, text in texts_of(part):
            for rule in rules:
                yield from rule.pattern.finditer(text)


def _spot(path: Path, found: Finding) -> Spot:
    where = str(Path(path.section, path.pair, path.message, found.part))
    own = found.rule if found.rule.group == "own" else None
    return Spot(where, found.rule.name, found.place, found.start, found.end, mark_of(found.value), own)


def mark_of(value: str) -> str:
    return fingerprint(value, settings.SECRET_KEY.encode())


def _order(spot: Spot) -> tuple[int, ...]:
    path = parse_path(spot.path)
    return path.section, path.pair or 0, path.message or 0, path.part or 0, spot.start


def unpacked(rows: Iterable[Sequence[Any]]) -> list[Spot]:
    """Spots of a job, without those of rules that are gone since."""
    return [spot for spot in (Spot(*row) for row in rows) if get_rule(spot.rule) is not None]


@dataclass(frozen=True, slots=True)
class Excerpt:
    before: str
    value: str
    behind: str


class Reader:
    """Reads what stands at spots, a message once."""

    def __init__(self, chain: StoredChain) -> None:
        self._chain = chain
        self._texts: dict[str, dict[str, str]] = {}

    def excerpt(self, spot: Spot) -> Excerpt:
        text = self._of(spot.path).get(spot.place, "")
        return Excerpt(
            text[max(0, spot.start - CONTEXT) : spot.start],
            text[spot.start : spot.end],
            text[spot.end : spot.end + CONTEXT],
        )

    def _of(self, where: str) -> dict[str, str]:
        if where not in self._texts:
            path = parse_path(where)
            self._texts[where] = _texts(self._chain.at(Path(path.section, path.pair, path.message)), path.part)
        return self._texts[where]


def _texts(messages: Sequence[Message], part: int | None) -> dict[str, str]:
    if not messages or part is None or part >= len(messages[0].parts):
        return {}
    return dict(texts_of(messages[0].parts[part]))


def is_long(chain: StoredChain) -> bool:
    return chain.snapshot.size > AT_ONCE
