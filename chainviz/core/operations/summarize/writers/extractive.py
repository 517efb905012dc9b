"""Summarize without a model, by selecting sentences that LexRank ranks high: requests, findings, decisions and errors."""

from __future__ import annotations

import math
import re
import string
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from chainviz.core.chain.messages import AI, Message, Part, Text, ToolCall, ToolResult, byte_size, text_of
from chainviz.core.chain.tree import SUMMARIZATION_TOOL
from chainviz.core.operations.summarize.facts import KINDS, Kind, error_lines, facts_of, is_log_line, leaves
from chainviz.core.operations.summarize.plan import PREFIX
from chainviz.core.operations.summarize.writers.contract import SummaryRequest, WriterError

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


SHORTEST_SENTENCE, LONGEST_SENTENCE = 20, 300
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
                if len(words) >= SHORTEST_SENTENCE:
                    yield words if len(words) <= LONGEST_SENTENCE else words[: LONGEST_SENTENCE - 1] + "…"


_NO_LETTERS = dict.fromkeys(map(ord, string.ascii_letters))
"""Removes the letters of an ASCII text, which counts them six times as fast as asking each character."""


def _is_prose(line: str) -> bool:
    head = line[:400]
    if _NO_PROSE.match(head) or _CODE.search(_MARKS.sub("", line)) or head.count("|") > 2 or is_log_line(head):
        return False
    letters = len(head) - len(head.translate(_NO_LETTERS)) if head.isascii() else sum(map(str.isalpha, head))
    letters += head.count(" ")
    return letters * 4 >= len(head.strip()) * 3 and any(map(str.isalpha, head))


READ_OF_A_TEXT = 8_000
"""Number of characters that are read at each end of a long text."""
READ_IN_ALL = 1_000_000
SHORTEST = 24
"""Lines with fewer bytes are skipped."""
WORTH_CUTTING = 100
GIST = 80
"""Number of characters that are shown of a tool's arguments."""
_CUES = (
    "decid", "chose", "because", "fix", "root cause", "found", "turns out", "conclu", "result", "must", "should", "will", "instead",
    "created", "updated", "changed", "added", "removed", "confirm", "verif", "pass", "therefore", "so that", "next step", "todo",
)  # fmt: skip
"""Beginnings of words, in lower case."""
_HEDGES = ("i think", "might be", "not sure", "let me", "let's", "let us", "we should first")
_OPENERS = ("actually", "maybe", "perhaps", "hmm", "wait", "or maybe", "so maybe")
_CUE = re.compile(rf"\b(?:{'|'.join(_CUES)})")
_HEDGE = re.compile(rf"\b(?:{'|'.join(_HEDGES)})\b")
_OPENER = re.compile(rf"(?:{'|'.join(_OPENERS)})\b")
_ENTRY = re.compile(r"[\w .#-]{1,30}: \S")
"""The start of a list entry, such as `Cabin: economy`, which means little without its list."""
_SUMMARY, _ANSWER, _RESULT = 1.6, 1.0, 0.35


@dataclass(frozen=True, slots=True)
class Block:
    """Lines under a heading, best first. `share` is the part of the summary that they may fill in the first round."""

    heading: str
    items: Sequence[str]
    share: float
    turn: int = 9
    """Blocks with a lower turn are filled first."""
    in_line: bool = False
    """True if the items are written in one line, as facts are."""
    told: Mapping[str, int] = field(default_factory=dict)
    """The place of each item in the messages; the summary lists the items in this order."""


@dataclass(frozen=True, slots=True)
class Extractive:
    name: str = field(default="extractive", init=False)
    label: str = field(default="extractive, no model", init=False)

    def write(
        self,
        request: SummaryRequest,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        progress: Callable[[float, str], None] = lambda done, text: None,
    ) -> str:
        if cancelled():
            raise WriterError("It was cancelled.")
        messages = _shortened(request.messages)
        humans = _shortened(request.humans)
        blocks = _of_questions(humans) if request.case == 3 else _of_work(humans, messages)
        progress(1.0, self.label)
        return _filled(blocks, request.target_bytes) or _cut("(nothing but attachments)", request.target_bytes)


def _shortened(messages: Iterable[Message]) -> list[Message]:
    """Return messages with long texts reduced to their ends, up to READ_IN_ALL characters."""
    found: list[Message] = []
    room = READ_IN_ALL
    for message in messages:
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, Text):
                parts.append(Text(_ends(part.text)))
            elif isinstance(part, ToolResult):
                parts.append(ToolResult(part.call_id, part.name, _ends(part.content), part.is_error))
            elif isinstance(part, ToolCall):
                parts.append(part)
        short = Message(message.role, tuple(parts))
        room -= short.size
        if room < 0 and found:
            break
        found.append(short)
    return found


def _ends(text: str) -> str:
    return text if len(text) <= 2 * READ_OF_A_TEXT else f"{text[:READ_OF_A_TEXT]}\n{text[-READ_OF_A_TEXT:]}"


def _of_questions(humans: Sequence[Message]) -> list[Block]:
    asked = [" ".join(text_of(message).split()) for message in humans]
    return [Block("", [text for text in asked if text], 1.0)]


def _of_work(humans: Sequence[Message], messages: Sequence[Message]) -> list[Block]:
    answers = [text for message in messages if message.role == AI and (text := _spoken_text(message))]
    last = " ".join(answers[-1].split()) if answers else ""
    asked = [" ".join(text_of(message).split()) for message in humans[-1:]]
    findings = _findings(messages, skip=answers[-1] if answers else "")
    found = _facts(messages)
    facts = [Block(_heading(kind), found[kind], 0.05, in_line=True) for kind in KINDS if kind not in ("error", "counter")]
    return [
        Block("Request", [text[:300] for text in asked if text], 0.1, turn=5),
        Block("Findings and decisions", list(findings), 0.3, turn=2, told=findings),
        Block("Tools", _tools(messages), 0.16, turn=4),
        Block("Errors", _errors(messages), 0.14, turn=3),
        *facts,
        Block("Last answer", [last] if last else [], 0.2, turn=1),
    ]


def _heading(kind: Kind) -> str:
    return KINDS[kind][0].upper() + KINDS[kind][1:]


def _spoken_text(message: Message) -> str:
    return text_of(message).removeprefix(PREFIX).strip()


def _spoken(messages: Sequence[Message]) -> Iterator[tuple[str, float]]:
    """Yield texts with the weight of their speaker."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolResult):
                yield part.content, _SUMMARY if part.name == SUMMARIZATION_TOOL else _RESULT
            elif isinstance(part, Text):
                marked = part.text.startswith(PREFIX)
                yield part.text.removeprefix(PREFIX), _SUMMARY if marked else _ANSWER


def _findings(messages: Sequence[Message], skip: str) -> dict[str, int]:
    """Return the best sentences, best first, each with its place among all sentences."""
    found: dict[str, float] = {}
    for text, weight in _spoken(messages):
        if text.strip() == skip and weight == _ANSWER:
            continue
        for sentence in sentences(_without_code(text)):
            if weight == _RESULT and any(error_lines(sentence)):
                continue  # listed with the errors
            found.setdefault(sentence, weight * _tone(sentence))
    every = list(found)
    # later findings are more likely to be still true
    weights = [weight * (0.8 + 0.4 * place / len(every)) for place, weight in enumerate(found.values())]
    return {every[i]: i for i in ranked(every, weights, 24)}


_NUMBERED = re.compile(r"[ \t]*(\d{1,7})(?:[ \t]*[|│→\t]|:(?!\d\d)|[ ]{2,}|-[ \t])|[\w./\\-]+[:-]\d{1,7}[:-](?! \S)")
"""The line number before a line of code, as `cat -n`, `grep -n` and agents print it."""


def _without_code(text: str) -> str:
    """Remove numbered lines of code. A line such as `12: text` counts as code only if line 11 or 13 is next to it."""
    lines = text.split("\n")
    marks = [_NUMBERED.match(line) for line in lines]
    numbers = [int(mark[1]) if mark and mark[1] else None for mark in marks]
    kept = []
    for at, (line, mark) in enumerate(zip(lines, marks, strict=True)):
        number = numbers[at]
        beside = [*numbers[max(0, at - 1) : at], *numbers[at + 1 : at + 2]]
        is_code = mark is not None and (number is None or mark[0][-1] in "|│→\t" or number - 1 in beside or number + 1 in beside)
        if not is_code:
            kept.append(line)
    return "\n".join(kept)


def _tone(sentence: str) -> float:
    """Return the weight of a sentence: decisions and reasons rank above statements, and these above guesses, questions, requests
    and fragments."""
    folded = sentence.casefold()
    if sentence.endswith(("?", ":")) or "please" in folded:
        return 0.4
    if len(sentence) < 60 and _ENTRY.match(sentence):
        return 0.3
    is_hedge = _contains(folded, _HEDGES, _HEDGE) or (folded.startswith(_OPENERS) and _OPENER.match(folded))
    tone = 0.5 if is_hedge else 1.5 if _contains(folded, _CUES, _CUE) else 1.0
    return tone * (1.0 if len(sentence) >= 40 else 0.7)


def _contains(text: str, words: Sequence[str], pattern: re.Pattern[str]) -> bool:
    """Return True if the pattern, whose matches contain one of the words, matches in the text. Looking for the words first is fifty times
    faster."""
    return any(word in text for word in words) and pattern.search(text) is not None


def _tools(messages: Sequence[Message]) -> list[str]:
    """Return a line for each tool with its number of calls and the gist of their arguments; the most used first."""
    counts: Counter[str] = Counter()
    gists: dict[str, list[str]] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCall) and part.has_function and part.name != SUMMARIZATION_TOOL:
                counts[part.name] += 1
                gist = _gist(part)
                known = gists.setdefault(part.name, [])
                if gist and gist not in known:
                    known.append(gist)
    return [
        f"{name or '(no name)'}{f' ×{count}' if count > 1 else ''}{': ' if gists[name] else ''}{'; '.join(_ends_of(gists[name]))}"
        for name, count in counts.most_common()
    ]


def _ends_of(gists: Sequence[str]) -> Sequence[str]:
    """Return the first and the last uses of a tool."""
    return gists if len(gists) <= 3 else [gists[0], *gists[-2:]]


def _gist(call: ToolCall) -> str:
    texts = [" ".join(text.split()) for _, text in leaves(call.arguments)]
    gist = ", ".join(text for text in texts if text)
    return gist if len(gist) <= GIST else gist[: GIST - 1] + "…"


def _errors(messages: Sequence[Message]) -> list[str]:
    found: dict[str, None] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolResult) and part.name != SUMMARIZATION_TOOL:
                if part.is_error and part.content.strip():
                    found.setdefault(" ".join(part.content.split())[:200])
                for fact in error_lines(part.content):
                    found.setdefault(fact.text[:200])
    return list(found)[-12:][::-1]


def _facts(messages: Sequence[Message]) -> dict[Kind, list[str]]:
    """Return the distinct facts of each kind, the most frequent first. Facts in prose count more than those in output.

    Counters in output are skipped, since most are line numbers; counters in prose count as numbers.
    """
    counts: dict[Kind, Counter[str]] = {kind: Counter() for kind in KINDS}
    for message in messages:
        weight = 3 if message.role == AI else 1
        for _, fact in facts_of(message):
            if fact.kind != "counter":
                counts[fact.kind][fact.text[:160]] += weight
            elif weight > 1:
                counts["number"][fact.text[:160]] += weight
    return {kind: [text for text, _ in counter.most_common(60)] for kind, counter in counts.items()}


def _filled(blocks: Sequence[Block], target: int) -> str:
    """Return as much as fits. Each block gets its share in turn; then the blocks with more lines get the remaining room."""
    by_turn = sorted(blocks, key=lambda each: each.turn)
    best = next((block.items[0] for block in by_turn if block.items), "")
    if target < WORTH_CUTTING:
        return _cut(best, target)
    taken: dict[str, list[str]] = {block.heading: [] for block in blocks}
    room = target
    for everything in (False, True):
        for block in by_turn:
            room -= _take(block, taken[block.heading], room if everything else min(room, int(target * block.share)))
    text = "\n".join(_block(block, lines) for block in blocks if (lines := _in_order(block, taken[block.heading])))
    return text or _cut(best, target)


def _in_order(block: Block, lines: Sequence[str]) -> Sequence[str]:
    return sorted(lines, key=lambda line: block.told.get(line, 0)) if block.told else lines


def _take(block: Block, lines: list[str], room: int) -> int:
    """Add the next items that fit, and return their size in bytes."""
    used = 0
    for item in block.items[len(lines) :]:
        around = 3 + (0 if lines else byte_size(block.heading) + 2)
        if used + around + byte_size(item) > room:
            # a first item may be cut, unless too little of it would be left
            item = "" if lines or room < WORTH_CUTTING else _cut(item, room - used - around)
            if byte_size(item) < SHORTEST:
                break
        lines.append(item)
        used += around + byte_size(item)
    return used


def _block(block: Block, lines: Sequence[str]) -> str:
    if not block.heading:
        return "\n".join(lines)
    if block.in_line:
        return f"{block.heading}: {', '.join(lines)}"
    if len(lines) == 1:
        return f"{block.heading}: {lines[0]}"
    return "\n".join([f"{block.heading}:", *(f"- {line}" for line in lines)])


def _cut(text: str, most: int) -> str:
    """Cut the text to at most `most` bytes."""
    if byte_size(text) <= most:
        return text
    mark = "…" if most > 6 else ""
    kept = text.encode("utf-8", "replace")[: most - byte_size(mark)].decode("utf-8", "ignore")
    return (kept or "-") + mark
