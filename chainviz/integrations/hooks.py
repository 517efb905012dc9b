"""The commands that `chainviz integrate` adds to agents: check a session, copy it, or find the one that is open."""

from __future__ import annotations

import json
from datetime import datetime
from glob import escape
from pathlib import Path
from typing import Any

from chainviz.api.chain import Chain, Result
from chainviz.api.sessions import sessions
from chainviz.core.backup_names import STAMP
from chainviz.core.errors import ChainError, DocumentError
from chainviz.core.sources import Session, read_session
from chainviz.fixes.backups import content_of
from chainviz.fixes.fix import fix_session
from chainviz.fixes.stored_session import fix_address
from chainviz.locations import data_folder


def event_of(text: str) -> dict[str, Any]:
    """Read what an agent writes to the standard input of a hook; {} for anything else."""
    try:
        event = json.loads(text)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def check(agent: str, event: dict[str, Any], session_id: str) -> str:
    """Return what to tell the person about a session that is resumed; "" if its API accepts it or it cannot be read."""
    try:
        address = _address(agent, event, session_id)
        if "transcript_path" in event:
            path, content = _resumed(agent, Path(address))
            address, fixed = str(path), [fix_session(content, str(path), _report)]
        else:
            fixed = list(fix_address(address, _report).sessions)
    except ChainError:
        return ""
    is_changed, has_left = any(each.is_changed for each in fixed), any(each.has_errors_left for each in fixed)
    if not is_changed and not has_left:
        return ""
    cause = next((line for session in fixed for line in session.sentences), "")
    todo = f"Quit and run: chainviz fix {address}" if is_changed else f"No fix removes all errors: chainviz check {address}"
    return f"chainviz: the API would refuse this session. {cause} {todo}"


def _resumed(agent: str, path: Path) -> tuple[Path, bytes]:
    """Return the file of the session that an agent resumes, and its content from before.

    Gemini CLI writes a header and an empty history before it runs the hook: into the session's file if that is of the same minute,
    else into a new file with the same id, which is the one that the event names.
    """
    content = content_of(path)
    if agent != "gemini-cli":
        return path, content
    place = content.rfind(b'\n{"sessionId":')
    if place >= 0:
        return path, content[: place + 1]
    named = path.parent.glob(f"session-*-{escape(path.stem[-8:])}.json*")
    earlier = [each for each in named if each != path and each.suffix in (".json", ".jsonl")]
    newest = max(earlier, key=lambda each: each.stat().st_mtime_ns, default=path)
    return newest, content_of(newest)


def _report(before: Chain, result: Result) -> list[str]:
    return [row.reason for row in result.report]


def copy(agent: str, event: dict[str, Any], session_id: str) -> str:
    """Copy a session before it is compacted, and return where the copy is. Raises ChainError.

    Earlier copies with which this one begins are deleted: some agents run the hook before every request.
    """
    address = _address(agent, event, session_id)
    content = content_of(Path(address)) if "transcript_path" in event else read_session(_session(agent, session_id))
    name = Path(address.rpartition("#")[2] or address)
    folder = data_folder() / "copies" / agent
    path = folder / f"{name.stem}.{datetime.now().strftime(STAMP)}{name.suffix or '.json'}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        earlier = [each for each in folder.glob(f"{escape(name.stem)}.*") if content.startswith(each.read_bytes())]
        path.touch(mode=0o600)
        path.write_bytes(content)
        for each in earlier:
            each.unlink()
    except OSError as error:
        raise DocumentError(f"{path} cannot be written: {error.strerror or error}.") from None
    return str(path)


def newest_here(agent: str, folder: Path) -> Session:
    """Return the session of an agent that was changed last in a folder. Raises DocumentError if there is none."""
    here = [each for each in sessions(agent) if each.project and Path(each.project) == folder]
    if not here:
        raise DocumentError(f"There is no session of {agent} in {folder}.")
    return here[0]


def _address(agent: str, event: dict[str, Any], session_id: str) -> str:
    """Return the address of the session that a hook is about."""
    path = event.get("transcript_path")
    return path if isinstance(path, str) and path else _session(agent, session_id).address


def _session(agent: str, session_id: str) -> Session:
    found = next((each for each in sessions(agent) if each.id == session_id), None)
    if found is None:
        raise DocumentError(f"There is no session “{session_id[:80]}” of {agent}.")
    return found
