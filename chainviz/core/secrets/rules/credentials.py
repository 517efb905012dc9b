"""Secrets without a form of their own, recognised by their place: a header, an address, an assignment, a key block."""

from __future__ import annotations

import re

from chainviz.core.secrets.rules.checks import is_assigned, is_random, is_real
from chainviz.core.secrets.rules.rule import Anchored, Rule

_QUOTES = r"""["'`\\]{0,4}"""
"""Around a key or value, escaped or not."""
_BEGIN = r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_HEADER_LINE = r"(?:[A-Za-z-]{2,20}: [^\n\\]{0,100}(?:\r?\n|\\r|\\n){1,2})"
_HEADERS = ("authorization", "x-api-key", "api-key", "x-auth-token", "cookie")
_SERVERS = ("server", "data source", "host", "endpoint", "accountname", "user id", "uid", "database", "initial catalog")
_NAMES = (
    "password", "passwd", "passphrase", "_pass", "-pass", "pwd", "secret", "token", "credential",
    *(f"{what}{join}key" for what in ("api", "access", "private", "encryption", "signing", "secret") for join in ("", "_", "-")),
)  # fmt: skip
"""A name that ends so holds a secret: db_password, clientSecret, OPENAI_API_KEY."""

CREDENTIALS: tuple[Rule, ...] = (
    Rule(
        "private-key", "Private key", "secret",
        Anchored(
            ("-----BEGIN ",),
            rf"{_BEGIN}(?:\s|\\r|\\n){{0,4}}{_HEADER_LINE}{{0,6}}[A-Za-z0-9+/=\s\\]{{16,20000}}(?:{_END})?",
        ),
    ),
    Rule(
        "jwt", "JSON Web Token", "secret",
        Anchored(("eyJ",), r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ),
    Rule(
        "url-credentials", "Password in an address", "secret",
        Anchored(("://",), r"""(?<=[A-Za-z0-9])://[^\s/:@"'<>\\]{0,100}:(?P<value>[^\s/@"'<>\\]{3,200})@"""),
        check=is_real, value="value",
    ),
    Rule(
        "connection-string", "Password in a connection string", "secret",
        Anchored(
            _SERVERS,
            r"""[a-z ]{3,16}=[^"'\n]{1,400}?;\s?(?:password|pwd|accountkey|sharedaccesskey)\s?=\s?(?P<value>[^;"'\s\\]{4,200})""",
            ignore_case=True,
        ),
        check=is_real, value="value",
    ),
    Rule(
        "authorization-header", "Authorization header", "secret",
        Anchored(
            _HEADERS,
            rf"[a-z-]{{6,13}}{_QUOTES}\s{{0,3}}[:=]\s{{0,3}}{_QUOTES}(?:(?:bearer|basic|token|apikey)\s{{1,3}})?"
            r"(?P<value>[A-Za-z0-9._~+/=-]{12,})",
            ignore_case=True,
        ),
        check=is_random, value="value",
    ),
    Rule(
        "bearer-token", "Bearer token", "secret",
        Anchored(("bearer",), r"\bbearer\s{1,3}(?P<value>[A-Za-z0-9._~+/-]{20,}=*)", ignore_case=True),
        check=is_random, value="value",
    ),
    Rule(
        "curl-password", "Password given to curl", "secret",
        Anchored(("curl ",), r"""\bcurl [^\n]{0,200}?(?:-u|--user)[ =]["']?[^\s:"'\\]{1,60}:(?P<value>[^\s"'\\]{3,100})"""),
        check=is_real, value="value",
    ),
    Rule(
        "assigned-secret", "Secret by its name", "secret",
        Anchored(
            _NAMES,
            rf"(?:{'|'.join(map(re.escape, _NAMES))})s?{_QUOTES}(?:\s{{0,3}}(?::=|=>|[:=])\s{{0,3}}|\sis\s){_QUOTES}"
            r"""(?P<value>[^\s"'`\\,;<>{}()\[\]]{6,200})""",
            ignore_case=True,
        ),
        check=is_assigned, value="value",
    ),
)  # fmt: skip
