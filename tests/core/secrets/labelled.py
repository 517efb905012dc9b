"""The labelled sample: texts as agents meet them, with made-up secrets, and texts that only look as if they held one.

In the file a secret stands as ⟦rule|value⟧ and its value is cut by ¦, so that no scanner takes the file for a leak.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chainviz.core.secrets import RULES, scan_text

FILE = Path(__file__).with_name("labelled.jsonl")
_SECRET = re.compile(r"⟦([^|]+)\|([^⟧]+)⟧")


@dataclass(frozen=True)
class Labelled:
    text: str
    secrets: tuple[tuple[str, int, int], ...]
    """(rule, start, end)."""


@dataclass(frozen=True)
class Score:
    texts: int
    secrets: int
    found: int
    named: int
    """Found by the rule that the label names."""
    false: tuple[str, ...]
    """What was found where nothing is: rule and value."""
    missed: tuple[str, ...]

    @property
    def recall(self) -> float:
        return self.found / self.secrets


def read_sample() -> Iterator[Labelled]:
    for line in FILE.read_text("utf-8").splitlines():
        pieces, secrets, at = [], [], 0
        marked = json.loads(line)["text"].replace("¦", "")
        for match in _SECRET.finditer(marked):
            pieces.append(marked[at : match.start()])
            start = sum(map(len, pieces))
            pieces.append(match[2])
            secrets.append((match[1], start, start + len(match[2])))
            at = match.end()
        yield Labelled("".join((*pieces, marked[at:])), tuple(secrets))


def score() -> Score:
    texts = secrets = found = named = 0
    false: list[str] = []
    missed: list[str] = []
    for labelled in read_sample():
        texts += 1
        secrets += len(labelled.secrets)
        seen = {(each.start, each.end): each.rule.name for each in scan_text(labelled.text, RULES)}
        for rule, start, end in labelled.secrets:
            name = seen.pop((start, end), None)
            found += name is not None
            named += name == rule
            if name is None:
                missed.append(f"{rule}: {labelled.text[start:end]}")
        false += [f"{name}: {labelled.text[start:end]}" for (start, end), name in seen.items()]
    return Score(texts, secrets, found, named, tuple(false), tuple(missed))
