"""The folders of a machine: homes, those in which programs of its system store their data, and places described by patterns.

A pattern has words for the folders of a home; a variable may name another folder.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

LINUX, MAC, WINDOWS = "linux", "mac", "windows"
_WINDOWS_USERS = Path("/mnt/c/Users")
_NOBODY = frozenset(("All Users", "Default", "Default User", "Public", "WsiAccount", "defaultuser0"))
"""Folders beside those of Windows' users."""


@dataclass(frozen=True)
class Home:
    path: Path
    system: str
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of programs that run in this home. Empty for the Windows home that WSL sees, to which
    Linux's variables do not apply."""

    def folder(self, word: str) -> Path:
        """Return the folder for a word: `home`, `data` (XDG's, also on macOS and Windows), `state`, `config` (XDG's),
        `apps` (settings of desktop programs) or `local` (their data)."""
        folders = {"home": self.path, "data": self._data, "state": self._state, "config": self._config}
        return {**folders, "apps": self._apps, "local": self._local}[word]

    @property
    def _data(self) -> Path:
        return self._variable("XDG_DATA_HOME", ".local/share")

    @property
    def _state(self) -> Path:
        return self._variable("XDG_STATE_HOME", ".local/state")

    @property
    def _config(self) -> Path:
        return self._variable("XDG_CONFIG_HOME", ".config")

    @property
    def _apps(self) -> Path:
        if self.system == LINUX:
            return self._config
        return self.path / ("Library/Application Support" if self.system == MAC else "AppData/Roaming")

    @property
    def _local(self) -> Path:
        if self.system == LINUX:
            return self._data
        return self.path / ("Library/Application Support" if self.system == MAC else "AppData/Local")

    def _variable(self, name: str, usual: str) -> Path:
        value = self.environment.get(name, "")
        return Path(value) if value and Path(value).is_absolute() else self.path / usual


@dataclass(frozen=True)
class Machine:
    homes: tuple[Home, ...]

    @classmethod
    def current(cls) -> Machine:
        """Return this machine: the home of the person who runs chainviz and, in WSL, the Windows homes that person can read."""
        system = {"darwin": MAC, "win32": WINDOWS}.get(sys.platform, LINUX)
        own = Home(Path(os.environ.get("HOME") or Path.home()), system, dict(os.environ))
        return cls((own, *_windows_homes())) if _is_wsl() else cls((own,))

    @classmethod
    def of(cls, home: Path, system: str = LINUX, environment: Mapping[str, str] | None = None) -> Machine:
        return cls((Home(home, system, environment or {}),))


def _is_wsl() -> bool:
    return sys.platform == "linux" and ("WSL_DISTRO_NAME" in os.environ or "microsoft" in platform.release().lower())


def _windows_homes() -> list[Home]:
    try:
        users = [path for path in sorted(_WINDOWS_USERS.iterdir()) if path.name not in _NOBODY]
        return [Home(path, WINDOWS) for path in users if (path / "AppData").is_dir() and os.access(path, os.R_OK | os.X_OK)]
    except OSError:
        return []


_WORD = re.compile(r"\{(\w+)\}/?")


@dataclass(frozen=True, slots=True)
class Place:
    usual: str
    """A pattern that begins with the name of a folder, `{data}/opencode/opencode.db`; "" if only the variable names a
    folder."""
    variable: str = ""
    """An environment variable whose folder replaces the usual one …"""
    below: str = ""
    """… and the pattern below that folder. Several folders are separated by commas."""


def paths_of(places: Iterable[Place], machine: Machine) -> list[Path]:
    """Return the paths that are there, each once."""
    found = [path for home in machine.homes for place in places for path in _paths(place, home)]
    return list(dict.fromkeys(found))


def _paths(place: Place, home: Home) -> Iterator[Path]:
    value = home.environment.get(place.variable, "") if place.variable else ""
    if value:
        for folder in filter(None, map(str.strip, value.split(","))):
            yield from matching(Path(folder).expanduser(), place.below)
        return
    word = _WORD.match(place.usual)
    if word:
        yield from matching(home.folder(word[1]), place.usual[word.end() :])


def matching(folder: Path, pattern: str) -> Iterator[Path]:
    """Yield the paths below a folder that match a pattern, in order. A folder that cannot be read counts as empty."""
    try:
        if not pattern or not any(mark in pattern for mark in "*?["):
            path = folder / pattern
            yield from [path] if path.exists() else []
            return
        yield from sorted(folder.glob(pattern))
    except (OSError, ValueError):
        return
