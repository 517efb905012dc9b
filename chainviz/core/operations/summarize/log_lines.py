"""Lines that a program printed while it ran. A summary quotes what was said, not what scrolled by."""

from __future__ import annotations

import re

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
    r"""\d{1,3}%\s?[|\[] | [█▓▒░]{3} | [=#>]{8} | ^\s*[\[(]?\s*\d{1,6}\s?/\s?\d{1,6}[\])]?\s |
    (?:^|\s)(?:PASSED|FAILED|SKIPPED|XFAIL)\s+\[\s*\d{1,3}%\] |
    ^\s*(?:Collecting|Downloading|Downloaded|Requirement\ already\ satisfied|Successfully\ installed|Installing\ collected|
    Get:\d|Hit:\d|Fetched\ \d|Unpacking|Setting\ up|Selecting\ previously|Preparing\ to\ unpack|Reading\ package)\b""",
    re.VERBOSE,
)
_PAIR = re.compile(r"(?:^|\s)[\w.-]{1,40}=\S")
_MOST_PREFIXES = 4
_READ = 400


def without_log_prefix(line: str) -> str:
    """The line without the time and the level in front of it."""
    for _ in range(_MOST_PREFIXES):
        found = _PREFIX.match(line)
        if not found or found.end() >= len(line):
            break
        line = line[found.end() :]
    return line


def is_log_line(line: str) -> bool:
    head = line[:_READ]
    return bool(_PREFIX.match(head) or _PROGRESS.search(head)) or len(_PAIR.findall(head)) > 2
