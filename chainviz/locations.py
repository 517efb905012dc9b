"""Find pages and style sheets, the data folder, the secret key in it, and the database."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

PACKAGE = Path(__file__).resolve().parent
# templates/ and static/ are beside the package in a checkout and inside it in the wheel.
IS_CHECKOUT = not (PACKAGE / "templates").is_dir()
ASSETS = PACKAGE.parent if IS_CHECKOUT else PACKAGE


def default_data_folder() -> Path:
    if IS_CHECKOUT:
        return PACKAGE.parent / "data"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "chainviz"
    fallback = Path.home() / ".local" / "share"
    return Path(os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_DATA_HOME") or fallback) / "chainviz"


def data_folder() -> Path:
    """Return the data folder as the environment names it, for commands that need no other setting."""
    return Path(os.environ.get("CHAINVIZ_DATA") or default_data_folder())


def database(url: str, folder: Path) -> dict[str, object]:
    """Return the settings of the database: SQLite in the data folder, or the one in CHAINVIZ_DATABASE_URL."""
    parts = urlsplit(url)
    if parts.scheme in {"postgres", "postgresql"}:
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(parts.path.lstrip("/")),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": parts.hostname or "",
            "PORT": str(parts.port or ""),
            "OPTIONS": {"pool": {"min_size": 1, "max_size": 16, "timeout": 20}, **dict(parse_qsl(parts.query))},
        }
    if url and not url.startswith("sqlite:///"):
        sys.stderr.write("CHAINVIZ_DATABASE_URL must begin with postgresql:// or sqlite:///\n")
        raise SystemExit(2)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": url.removeprefix("sqlite:///") or str(folder / "chainviz.sqlite3"),
        "OPTIONS": {
            # A deferred transaction that turns from reading to writing fails at once, without waiting.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
            " PRAGMA secure_delete=ON; PRAGMA journal_size_limit=67108864;",
        },
    }


def secret_key(folder: Path) -> str:
    """Return the secret key, which is created once for each data folder. If nothing can be written, it is for this
    process only."""
    path = folder / "secret-key"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:  # noqa: PTH123
            file.write(secrets.token_urlsafe(50))
    except FileExistsError:
        pass
    except OSError:
        return secrets.token_urlsafe(50)
    return path.read_text()
