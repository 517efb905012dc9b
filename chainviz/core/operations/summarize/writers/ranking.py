"""Rank sentences by LexRank (a sentence that resembles many others ranks high), weighted by speaker, then choose varied ones.
Deterministic."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from chainviz.core.operations.summarize.facts import is_log_line

MOST = 320
"""The most sentences that are compared; of more, those with the largest weights."""
_DAMPING, _ROUNDS, _LEAST_ALIKE = 0.85, 12, 0.1
_VARIETY = 0.6
_WORD = re.compile(r"[^\W\d_]{3,}|\d{2,}")
_STOP_WORDS = """
the and for that this with from are was were has have had not but you your its can will would should there here then than
they them their what which who how when where also into out our all any been being does did done now let
"""
_STOP = frozenset(_STOP_WORDS.split())

Links = list[dict[int, float]]


def ranked(sentences: Sequence[str], weights: Sequence[float], count: int) -> list[int]:
    """Return the indexes of the best sentences, best first; of equal ones the earlier comes first."""
    chosen = sorted(range(len(sentences)), key=lambda i: (-weights[i], i))[:MOST]
    chosen.sort()
    links = _links([sentences[i] for i in chosen])
    central = _central(links)
    worth = [central[n] * weights[i] for n, i in enumerate(chosen)]
    return [chosen[n] for n in _varied(worth, links, count)]


def _links(sentences: Sequence[str]) -> Links:
    """Return pairs of similar sentences, by the cosine of their tf-idf vectors. Postings avoid comparing sentences that share no
    word."""
    bags = [Counter(word for word in _WORD.findall(sentence.casefold()) if word not in _STOP) for sentence in sentences]
    spread = Counter(word for bag in bags for word in bag)
    total = len(bags)
    postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for i, bag in enumerate(bags):
        vector = {word: n * math.log(1 + total / spread[word]) for word, n in bag.items()}
        length = math.sqrt(sum(value * value for value in vector.values())) or 1.0
        for word, value in vector.items():
            postings[word].append((i, value / length))
    alike: list[dict[int, float]] = [defaultdict(float) for _ in bags]
    for found in postings.values():
        if len(found) > max(10, total // 3):
            continue
        for at, (i, left) in enumerate(found):
            row = alike[i]
            for j, right in found[at + 1 :]:
                row[j] += left * right
    links: Links = [{} for _ in bags]
    for i, row in enumerate(alike):
        for j, value in row.items():
            if value >= _LEAST_ALIKE:
                links[i][j] = links[j][i] = value
    return links


def _central(links: Links) -> list[float]:
    sums = [sum(row.values()) for row in links]
    score = [1.0] * len(links)
    for _ in range(_ROUNDS):
        score = [1 - _DAMPING + _DAMPING * sum(score[j] * value / sums[j] for j, value in row.items()) for row in links]
    return score


def _varied(worth: Sequence[float], links: Links, count: int) -> list[int]:
    """Choose sentences greedily; one loses worth if a similar one was chosen before."""
    left = dict(enumerate(worth))
    told = dict.fromkeys(left, 0.0)
    chosen: list[int] = []
    while left and len(chosen) < count:
        best = max(left, key=lambda n: (left[n] * (1 - _VARIETY * told[n]), -n))
        del left[best]
        chosen.append(best)
        for n, value in links[best].items():
            told[n] = max(told[n], min(value, 1.0))
    return chosen


# Code, tables, headings, JSON and log lines are not sentences.


SHORTEST, LONGEST = 20, 300
_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[A-Z0-9*`])|(?<=[。！？])")
_STOPS = re.compile("[.!?。！？]")
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")
_MARKS = re.compile(r"^\s*(?:[-*+•>]|\d{1,3}[.)])\s+")
_NO_PROSE = re.compile(r"^\s*(?:[{}\[\]|#<]|[\"'][^\"']{0,80}[\"']\s*:|//|import |from \S+ import |def |class |return |[-=_*]{3,})")
_CODE = re.compile(r"^\s*(?:\d+\s+)?(?:new )?[\w.$]+(?:\(|\s+[:+]?=\s)|[;{(\[]\s*(?://.*)?$")
"""A line that begins with a call or an assignment, or ends as no sentence does. It may be numbered, or a line of a diff."""


def sentences(text: str) -> Iterator[str]:
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and _is_prose(line):
            said = _MARKS.sub("", line)
            for sentence in _END.split(said) if _STOPS.search(said) else (said,):
                words = " ".join(sentence.split())
                if len(words) >= SHORTEST:
                    yield words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


def _is_prose(line: str) -> bool:
    head = line[:400]
    if _NO_PROSE.match(head) or _CODE.search(_MARKS.sub("", line)) or head.count("|") > 2 or is_log_line(head):
        return False
    letters = sum(map(str.isalpha, head)) + head.count(" ")
    return letters * 4 >= len(head.strip()) * 3 and any(map(str.isalpha, head))
