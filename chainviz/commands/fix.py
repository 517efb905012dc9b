"""`chainviz fix`: lets a session resume that its API refuses. Fixes only what the API rejects, and keeps a backup.

A session is written back whole and atomically, beside a dated backup, and not at all if it changed meanwhile.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from chainviz.api.chain import Chain, Result, chains_of, document_of
from chainviz.api.comparison import diff
from chainviz.api.file import open_file
from chainviz.api.in_turn import in_turn
from chainviz.commands.io.files import add_format
from chainviz.core.diff.text import render
from chainviz.core.errors import ChainError, DocumentError, Refused
from chainviz.core.providers import PROVIDERS, get_provider
from chainviz.core.providers.contract import Provider

SPOKEN = {"claude_code": "anthropic", "codex_rollout": "openai-responses", "pi_session": "anthropic"}
"""The provider that an agent with sessions in this format talks to."""
USUAL = "openai-chat"
BACKUP = ".backup-"
STAMP = "%Y%m%d-%H%M%S-%f"
MOST_LINES = 12
"""Lines of a changed text that are shown."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sessions", metavar="SESSION", nargs="+", help="the file of a session, or any transcript")
    add_format(parser)
    names = ", ".join(provider.name for provider in PROVIDERS)
    parser.add_argument(
        "--provider", metavar="NAME", help=f"the API that must accept it instead of the one its format belongs to: {names}"
    )
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--check", action="store_true", help="only show what would change; exit code 1 if anything would")
    act.add_argument("--restore", action="store_true", help="put the newest backup back")


def run(arguments: argparse.Namespace) -> int:
    provider = get_provider(arguments.provider) if arguments.provider else None
    return max([_code(Path(name), arguments, provider) for name in arguments.sessions])


def _code(session: Path, arguments: argparse.Namespace, provider: Provider | None) -> int:
    """0: valid, or fixed; 1: something would change, or errors remain; 2: not readable, or not written."""
    try:
        if arguments.restore:
            return _restore(session)
        return _fix(session, arguments, provider)
    except ChainError as error:
        print(f"chainviz: {error}", file=sys.stderr)
        return 2


def _fix(session: Path, arguments: argparse.Namespace, provider: Provider | None) -> int:
    old = _content(session)
    kept, cut = _whole_lines(old)
    file = open_file(kept, str(session), arguments.format, salvage=True)
    with file.source:
        if cut and not all(chain.envelope.lines for chain in file.chains):
            raise Refused(f"{session}: line {cut[0]} is not valid JSON. Nothing was written.")
        fixed, chains = in_turn(chains_of(file), partial(_fixed, provider))
        new = b"".join(document_of(chains)) if any(each.is_changed for each in fixed) else kept
    for line in cut:
        print(f"{session}: line {line} is not valid JSON and is removed")
    for each in fixed:
        each.tell()
    code = 1 if any(each.result.warnings for each in fixed) else 0
    if new == old:
        return code
    if arguments.check:
        return 1
    print(f"{session}: fixed; the backup is {_write_back(session, old, new)}")
    return code


@dataclass(frozen=True, slots=True)
class _Fixed:
    before: Chain
    provider: Provider
    result: Result
    """Its warnings say what remains."""

    @property
    def is_changed(self) -> bool:
        return self.result.chain is not self.before

    def tell(self) -> None:
        title = self.before.title
        if self.is_changed:
            print(f"{title}: what changes for {self.provider.label}")
            for line in render(diff(self.before, self.result.chain).chains, most_lines=MOST_LINES):
                print(f"  {line}")
        elif not self.result.warnings:
            print(f"{title}: {self.provider.label} accepts it")
        for sentence in self.result.warnings:
            print(f"  {sentence}")


def _fixed(provider: Provider | None, chain: Chain) -> tuple[Chain, _Fixed]:
    goal = provider or _provider_of(chain.format)
    result = chain.apply("repair", goal=goal.name, resumes=True)
    return result.chain, _Fixed(chain, goal, result)


def _provider_of(format: str) -> Provider:
    spoken = next((each.name for each in PROVIDERS if format in each.formats), SPOKEN.get(format, USUAL))
    return get_provider(spoken)


def _content(session: Path) -> bytes:
    try:
        return session.read_bytes()
    except OSError as error:
        raise DocumentError(f"{session} cannot be opened: {error.strerror or error}.") from None


def _whole_lines(content: bytes) -> tuple[bytes, list[int]]:
    """JSON Lines without the lines that are not valid, and the numbers of those: a write was cut off, or two processes
    wrote at once. Anything else comes back as it is."""
    lines = content.splitlines(keepends=True)
    faulty = {number for number, line in enumerate(lines, 1) if line.strip() and not _is_json(line)}
    if len(faulty) * 2 > len(lines):
        return content, []
    return b"".join(line for number, line in enumerate(lines, 1) if number not in faulty), sorted(faulty)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _write_back(session: Path, old: bytes, new: bytes) -> Path:
    """Returns the backup. Raises Refused where the session changed since it was read."""
    target = session.resolve()
    part = target.with_name(f".{target.name}.part")
    backup = target.with_name(f"{target.name}{BACKUP}{datetime.now().strftime(STAMP)}")
    try:
        part.write_bytes(new)
        shutil.copystat(target, part)
        if target.read_bytes() != old:
            raise Refused(f"{session} changed while it was being fixed: the agent still runs. Stop it and try again.")
        shutil.copy2(target, backup)
        part.replace(target)
    except OSError as error:
        raise DocumentError(f"{session} cannot be written: {error.strerror or error}.") from None
    finally:
        part.unlink(missing_ok=True)
    return backup


def _restore(session: Path) -> int:
    target = session.resolve()
    backups = sorted(target.parent.glob(f"{target.name}{BACKUP}*"))
    if not backups:
        raise Refused(f"{session} has no backup.")
    now = _write_back(session, _content(session), _content(backups[-1]))
    print(f"{session}: restored from {backups[-1].name}; the session as it was is {now.name}")
    return 0
