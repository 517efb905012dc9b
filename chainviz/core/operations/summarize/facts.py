"""Find facts that a summary easily loses (file paths, commands, URLs, ids, numbers, error lines), and report those that it lost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from chainviz.core.chain.messages import Message, Part, Text, ToolCall, ToolResult
from chainviz.core.chain.paths import Path

Kind = Literal["error", "path", "command", "url", "id", "number", "counter"]
KINDS: dict[Kind, str] = {
    "error": "error lines",
    "path": "file paths",
    "command": "commands",
    "url": "URLs",
    "id": "ids",
    "number": "numbers",
    "counter": "counters",
}
"""Kinds of facts with their labels, the most important first. Counters are bare integers and times of day, such as line numbers
and ports."""
LONGEST = 300
"""Maximal length of a command or an error line, in characters."""


@dataclass(frozen=True, slots=True)
class Fact:
    kind: Kind
    text: str


_EXTENSIONS = (
    "py|pyi|js|mjs|ts|tsx|jsx|json|jsonl|md|rst|txt|html|css|scss|ya?ml|toml|cfg|ini|conf|env|sh|sql|csv|tsv|xml|java|go|"
    "rs|c|h|cc|cpp|hpp|cs|rb|php|kt|swift|scala|lua|log|lock|ipynb|pdf|png|jpe?g|gif|svg|tf|proto|diff|patch|zip|gz|db|sqlite"
)
# No quantifier has a neighbour that could take its characters, and none starts inside a word: the search is linear. Every
# fact but a reference has a digit, slash or dot among its first 90 characters, which rules most words out at once.
_FACT = re.compile(
    rf"""(?<![\w/\\.@+~<#-])(?=[^\s\d/\\.]{{0,90}}[\d/\\.])(?:
    (?P<url>[A-Za-z][A-Za-z0-9]{{1,9}}://[^\s<>"'`|\\^{{}}\[\]]{{1,1000}})
  | (?P<path>(?:~|\.{{1,2}}|[A-Za-z]:)?[/\\]?(?:[\w.@~-]{{1,80}}[/\\]){{1,30}}[\w.@~-]{{0,80}} | (?:/|~/)[\w.-]{{2,80}})
  | (?P<file>[\w-]{{1,80}}(?:\.[\w-]{{1,40}}){{0,3}}\.(?:{_EXTENSIONS})\b(?![\w-]))
  | (?P<uuid>[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}\b)
  | (?P<id>(?:[A-Z][A-Z0-9]{{1,9}}-\d{{1,8}}|(?=\d{{0,11}}[A-Z]{{1,11}}\d)[A-Z0-9]{{5,12}}|
        [A-Za-z]{{2,16}}(?:_[A-Za-z]{{2,16}}){{0,3}}_\d{{3,12}}|[A-Za-z]{{2,16}}[_-][A-Za-z0-9]{{6,64}}|[0-9a-f]{{7,64}})\b(?![\w-]))
  | (?P<number>[$€£]?\d{{1,18}}(?:[.,:]\d{{1,18}}){{0,6}}%?(?![\w-]))
    ) | (?P<reference>(?<!\w)\#\d{{1,8}}\b)""",
    re.VERBOSE,
)
_TELLS = re.compile(r"[\d/\\.#]")
"""A line without one of these characters contains no fact. Facts contain no white space, so none spans lines."""
_ERROR = re.compile(
    r"\b(?:[A-Za-z]{0,40}(?:Error|Exception)\b|error\b|errors?:|exception\b|traceback\b|fail(?:ed|ure|s)?\b|fatal\b|panic\b|"
    r"denied\b|refused\b|not found\b|no such\b|timed? ?out\b|cannot\b|could not\b|couldn't\b|unable to\b|invalid\b|"
    r"exit (?:code|status):? [1-9])",
    re.IGNORECASE,
)
_ERROR_WORDS = (
    "error", "exception", "traceback", "fail", "fatal", "panic", "denied", "refused", "not found", "no such", "time",
    "cannot", "could", "unable", "invalid", "exit",
)  # fmt: skip
"""Each match of _ERROR contains one of these words; searching for them is many times faster."""
_CODE = re.compile(
    r"\s*(?:\d{1,6}[:|\s]\s*)?[+-]?\s*(?:raise|from|import|def|class|except|return|if|elif|assert|with|for|while|print|logger|"
    r"log|throw|catch|function|const|let|var)\b|\s*(?:\d{1,6}[:|\s]\s*)?(?:#|//|\*|/\*)|"
    r"\s*(?:\d{1,6}[-:|]\s*)?[\w.]{1,80}(?:\[[^\]]{0,80}\])? = \S|[\s=*-]{0,40}(?:[Ee]rrors?|ERRORS?):?[\s=*-]{0,40}$"
)
_COUNTER = re.compile(r"\d+|\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?")
_PROMPT_LINE = re.compile(r"^[ \t]{0,20}(?:[\w@.~/:-]{0,60})?[$❯] (?P<command>\S.{0,400})", re.MULTILINE)
_COMMAND_KEYS = {"command", "cmd", "commands", "script", "shell", "bash"}


def facts_in(text: str) -> Iterator[Fact]:
    """Yield every fact of a text, including repeated ones, grouped by the search that finds it."""
    telling = "\n".join(line for line in text.splitlines() if _TELLS.search(line)) if _TELLS.search(text) else ""
    for found in _FACT.finditer(telling):
        fact = _fact(found)
        if fact is not None:
            yield fact
    for found in _PROMPT_LINE.finditer(text) if "$ " in text or "❯ " in text else ():
        yield Fact("command", found["command"].strip()[:LONGEST])
    yield from error_lines(text)


def error_lines(text: str) -> Iterator[Fact]:
    """Yield each line that reports an error, once. Skips code that raises errors, and headings."""
    for line in dict.fromkeys(text.splitlines()) if _may_tell_error(text) else ():
        head = line[: 4 * LONGEST]
        if _may_tell_error(head) and _ERROR.search(head) and not _CODE.match(line):
            yield Fact("error", " ".join(without_log_prefix(line).split())[:LONGEST])


def _may_tell_error(text: str) -> bool:
    folded = text.casefold()
    return any(word in folded for word in _ERROR_WORDS)


def _fact(found: re.Match[str]) -> Fact | None:
    kind, text = found.lastgroup, found[0]
    match kind:
        case "url":
            text = text.rstrip(".,;:!?'\"")
            return Fact("url", text[:-1] if text.endswith(")") and "(" not in text else text)
        case "path":
            text = text.rstrip(".")
            if text[:2] in ("a/", "b/") and "/" in text[2:]:
                text = text[2:]  # a diff puts a/ or b/ before a path
            return Fact("path", text) if _is_path(text) else None
        case "file":
            return Fact("path", text)
        case "uuid" | "reference":
            return Fact("id", text)
        case "id":
            if any(c.isdigit() for c in text) and any(c.isalpha() for c in text):
                return Fact("id", text)
            return Fact("counter", text) if text.isdigit() else None
        case _:
            if text.isdigit() and len(text) < 2:
                return None
            return Fact("counter" if _COUNTER.fullmatch(text) else "number", text)


def _is_path(text: str) -> bool:
    segments = [segment for segment in re.split(r"[/\\]", text) if segment]
    if not segments or all(segment.isdigit() for segment in segments):
        return False
    rooted = text.startswith(("/", "~", "./", "../")) or text[1:3] in (":\\", ":/")
    named = bool(re.search(rf"\.(?:{_EXTENSIONS})$", segments[-1]))
    return rooted or named or (len(segments) > 2 and all(len(segment) > 1 for segment in segments))


def texts_of(part: Part) -> Iterator[str]:
    """Yield the texts of a part; JSON arguments give their keys and values."""
    match part:
        case Text():
            yield part.text
        case ToolResult():
            yield part.content
        case ToolCall():
            yield from (text for _, text in leaves(part.arguments))


def commands_of(part: Part) -> Iterator[Fact]:
    """Yield the commands among the arguments of a call."""
    if isinstance(part, ToolCall):
        for key, text in leaves(part.arguments):
            if key.lower() in _COMMAND_KEYS and text.strip():
                yield Fact("command", text.strip().splitlines()[0][:LONGEST])


def leaves(arguments: str) -> list[tuple[str, str]]:
    """Return keys and texts in JSON arguments; invalid JSON is returned whole."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return [("", arguments)]
    found: list[tuple[str, str]] = []
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(str(name), inner) for name, inner in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [(key, inner) for inner in reversed(value)]
        elif value is not None and not isinstance(value, bool):
            found.append((key, str(value)))
    return found


def facts_of(message: Message, *, most_characters: int = 1 << 62) -> Iterator[tuple[int, Fact]]:
    """Yield each fact of a message with the index of its part."""
    for index, part in enumerate(message.parts):
        commands = list(commands_of(part))
        yield from ((index, fact) for fact in commands)
        known = {fact.text for fact in commands}
        for text in texts_of(part):
            for fact in facts_in(text[:most_characters]):
                if fact.text not in known:
                    yield index, fact


# A summary quotes messages, but not the log lines and progress output of programs.


_LEVEL = r"TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR!|FATAL|CRITICAL"
_DAY = r"\d{4}[-/]\d\d[-/]\d\d[T\ ]|[A-Z][a-z]{2}\ {1,2}\d{1,2}\ "
_PREFIX = re.compile(
    rf"""[\s\[(]{{0,8}}(?:
    (?:(?:{_DAY})\d\d:\d\d(?::\d\d)?|\d\d:\d\d:\d\d)(?:[.,]\d{{1,9}})?(?:Z|\ ?[+-]\d\d:?\d\d)?[\])]?
  | (?:npm|yarn|pnpm)\ (?:{_LEVEL}|notice|info|verb)
  | [\[(]?(?:{_LEVEL})(?:[\])]|:|\ [|:-]|(?=\s{{2}})|(?=\ \[))
    )[\s:|-]{{0,8}}""",
    re.VERBOSE,
)
_PROGRESS = re.compile(
    r"""\d{1,3}%\s?[|\[] | [█▓▒░]{3} | [=#>]{8} | (?:^|\s)(?:PASSED|FAILED|SKIPPED|XFAIL)\s+\[\s*\d{1,3}%\]""", re.VERBOSE
)
_PROGRESS_MARK = re.compile("[%█▓▒░=#>]")
"""Each match of _PROGRESS contains one of these characters; searching for them is many times faster."""
_STEP = re.compile(
    r"""\s*[\[(]?\s*\d{1,6}\s?/\s?\d{1,6}[\])]?\s |
    \s*(?:Collecting|Downloading|Downloaded|Requirement\ already\ satisfied|Successfully\ installed|Installing\ collected|
    Get:\d|Hit:\d|Fetched\ \d|Unpacking|Setting\ up|Selecting\ previously|Preparing\ to\ unpack|Reading\ package)\b""",
    re.VERBOSE,
)
_PAIR = re.compile(r"(?:^|\s)[\w.-]{1,40}=\S")
_MOST_PREFIXES = 4
_READ = 400


def without_log_prefix(line: str) -> str:
    """Return the line without the time and the log level at its start."""
    for _ in range(_MOST_PREFIXES):
        found = _PREFIX.match(line)
        if not found or found.end() >= len(line):
            break
        line = line[found.end() :]
    return line


def is_log_line(line: str) -> bool:
    head = line[:_READ]
    if _PREFIX.match(head) or _STEP.match(head) or (_PROGRESS_MARK.search(head) and _PROGRESS.search(head)):
        return True
    return head.count("=") > 2 and len(_PAIR.findall(head)) > 2


MOST_CHARACTERS = 1_000_000
"""Number of characters after which the search stops; the report then says that it is incomplete."""
MOST_OF_A_TEXT = 200_000
MOST_FACTS = 1_000
"""The most distinct facts of each kind."""
_CHECKED_PLACES = 20
NUMBERS = ("number", "counter")


@dataclass(frozen=True, slots=True)
class Loss:
    kind: Kind
    text: str
    message: int
    """Index among the folded messages."""
    part: int
    path: Path | None = None
    """The path of the fact's message, if the paths were given."""


@dataclass(frozen=True, slots=True)
class Share:
    """The share of one kind of facts that survives; repeated facts count once."""

    kind: Kind
    found: int
    kept: int

    @property
    def label(self) -> str:
        return KINDS[self.kind]

    @property
    def percent(self) -> int:
        return self.kept * 100 // self.found


@dataclass(frozen=True, slots=True)
class LossReport:
    losses: tuple[Loss, ...]
    """Sorted by kind, then in the order of the messages."""
    shares: tuple[Share, ...]
    """One share for each kind that occurs."""
    complete: bool = True
    """False if some facts were not checked because there are too many or the messages are too long."""


def losses(messages: Sequence[Message], summary: str, places: Sequence[Path] = ()) -> LossReport:
    """Report the facts of the messages that the summary does not contain. `places` gives the path of each message."""
    found: dict[Kind, dict[str, Loss]] = {kind: {} for kind in KINDS}
    complete = True
    budget = MOST_CHARACTERS
    for index, message in enumerate(messages):
        length = sum(min(_length(part), MOST_OF_A_TEXT) for part in message.parts)
        complete &= budget >= length and all(_length(part) <= MOST_OF_A_TEXT for part in message.parts)
        if budget < length:
            break
        budget -= length
        for part, fact in facts_of(message, most_characters=MOST_OF_A_TEXT):
            known = found[fact.kind]
            if len(known) < MOST_FACTS:
                known.setdefault(_spelling(fact), Loss(fact.kind, fact.text, index, part, _path(places, index, part)))
            else:
                complete &= _spelling(fact) in known
    held = _SummaryIndex(summary)
    lost = {kind: [loss for key, loss in known.items() if not held.holds(kind, key)] for kind, known in found.items()}
    shares = tuple(Share(kind, len(known), len(known) - len(lost[kind])) for kind, known in found.items() if known)
    return LossReport(tuple(loss for every in lost.values() for loss in every), shares, complete)


def _length(part: object) -> int:
    return len(part.arguments) if isinstance(part, ToolCall) else len(getattr(part, "text", getattr(part, "content", "")))


def _path(places: Sequence[Path], index: int, part: int) -> Path | None:
    return (
        replace(places[index], part=part)
        if index < len(places) and places[index].message is not None
        else (places[index] if index < len(places) else None)
    )


def _spelling(fact: Fact) -> str:
    """Return a normalized spelling of the fact; two facts with the same spelling are equal."""
    if fact.kind in NUMBERS:
        return _number(fact.text)
    return _plain(fact.text) if fact.kind in ("error", "command") else fact.text


def _number(text: str) -> str:
    return text.replace(",", "").lstrip("$€£").rstrip("%")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .:;!")


class _SummaryIndex:
    """Looks up facts in a summary."""

    def __init__(self, summary: str) -> None:
        self.text = summary
        self.plain = _plain(summary)
        self.numbers = {_number(text) for text in _texts(facts_in(summary))}

    def holds(self, kind: Kind, spelling: str) -> bool:
        if kind in NUMBERS:
            return spelling in self.numbers
        return _has_word(self.plain if kind in ("error", "command") else self.text, spelling)


def _texts(facts: Iterable[Fact]) -> Iterable[str]:
    return (fact.text for fact in facts if fact.kind in NUMBERS)


def _has_word(text: str, word: str) -> bool:
    """Return True if `text` contains `word`, but not inside a longer word."""
    start = -1
    for _ in range(_CHECKED_PLACES):
        start = text.find(word, start + 1)
        if start < 0:
            return False
        end = start + len(word)
        if not (_joins(text[start - 1 : start], word[:1]) or _joins(word[-1:], text[end : end + 1])):
            return True
    return False


def _joins(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum()
