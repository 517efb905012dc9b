"""The library of `chainviz mcp`: the sessions of this machine's agents, and any file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from chainviz.api.chain import Chain, load
from chainviz.api.sessions import sessions
from chainviz.core.errors import ChainError, Refused
from chainviz.core.sources import Session, read_session
from chainviz.fixes.addresses import FixedAddress, fix_address
from chainviz.fixes.doctor import report_lines
from chainviz.mcp.library import Fix, Search, Sessions

MOST_READ = 256 * 2**20
"""The most bytes of transcripts that one search reads."""


@dataclass(frozen=True, slots=True)
class MachineLibrary:
    may_write: bool = False
    folder: Path = Path()
    """The folder in which copies are saved."""

    def sessions(self, search: Search) -> Sessions:
        listed = sessions(search.agent, search.project)
        if search.in_texts and search.words:
            return _with_text(listed, search)
        words = search.words.lower()
        fitting = [each for each in listed if words in f"{each.title}\n{each.project}\n{each.id}".lower()]
        left = len(fitting) - search.limit
        return Sessions([_line(each) for each in fitting[: search.limit]], f"{left:,} more sessions match." if left > 0 else "")

    def chains(self, address: str) -> Sequence[Chain]:
        return load(address)

    def fix(self, address: str, write: bool) -> Fix:
        if write:
            self._require_writing()
        fixed = fix_address(address, report_lines, write=write)
        return Fix(tuple([line for session in fixed.sessions for line in session.sentences]), _outcome(fixed))

    def save(self, address: str, number: int, operation: str, options: Mapping[str, Any]) -> str:
        self._require_writing()
        made = load(address)[number - 1].run(operation, options)
        path = self._free_path(address, operation)
        made.save(path)
        return f"Saved as {path}; {address} is unchanged."

    def _require_writing(self) -> None:
        if not self.may_write:
            raise Refused("The person did not allow writing. They can start the server with: chainviz mcp --allow-writing")

    def _free_path(self, address: str, operation: str) -> Path:
        """Return a path beside no other file: `run.mask.json`, then `run.mask-2.json`."""
        file, _, id = address.partition("#")
        name = Path((id and f"{id.rpartition('/')[2]}.json") or file)
        names = (f"{name.stem}.{operation}{f'-{n}' if n > 1 else ''}{name.suffix}" for n in count(1))
        return next(path for path in (self.folder / each for each in names) if not path.exists())


def _line(session: Session) -> str:
    return f"{session.address}  {session.agent}  {session.project or '-'}  {session.title}"


def _with_text(listed: Sequence[Session], search: Search) -> Sessions:
    """Read sessions, newest first, until enough match or too much was read."""
    words, lines, size, searched = search.words.encode(), list[str](), 0, 0
    for session in listed:
        if len(lines) >= search.limit or size >= MOST_READ:
            break
        searched += 1
        try:
            content = read_session(session)
        except ChainError:
            continue
        size += len(content)
        if words.lower() in content.lower():
            lines.append(_line(session))
    left = len(listed) - searched
    return Sessions(lines, f"{left:,} older sessions were not searched; name an agent or a project." if left else "")


def _outcome(fixed: FixedAddress[list[str]]) -> str:
    if not fixed.is_changed:
        has_left = any(session.has_errors_left for session in fixed.sessions)
        return "Errors remain that no fix removes." if has_left else "Nothing to fix: its API accepts it."
    if fixed.backup is None:
        return "Checked only: these fixes would make it valid. Nothing was written."
    return f"Fixed; the backup is {fixed.backup}"
