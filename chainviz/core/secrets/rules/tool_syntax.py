"""Secrets known by the syntax of one tool: command lines, netrc, Docker, password hashes, markup, signed links, cookies."""

from __future__ import annotations

from chainviz.core.secrets.rules.checks import is_filled, is_login, is_random, is_real
from chainviz.core.secrets.rules.rule import Anchored, Rule

_HASH_KINDS = ("apr1", "2a", "2b", "2y", "1", "5", "6", "y", "argon2i", "argon2id")
_ELEMENTS = ("password", "passwd", "pwd", "secret", "token", "apikey", "api_key")
_COOKIES = ("sessionid", "session", "connect.sid", "phpsessid", "jsessionid", "remember_token", "auth_token")

TOOL_SYNTAX: tuple[Rule, ...] = (
    Rule(
        "command-password", "Password given to a command", "secret",
        Anchored(
            ("mysql", "mariadb", "sshpass"),
            r"(?:(?:mysql|mariadb)(?:-?dump|-?admin|-?import)?\s(?:[^\n]{0,200}?\s)??-p|sshpass\s[^\n]{0,40}?-p\s{0,2})"
            r"""(?:(?P<quote>["'])(?=[^"'\\\n]{3,100}["'\\])|["']?)"""
            r"""(?P<value>(?(quote)[^"'\\\n]{3,100}|[^\s"'\\]{3,100}))""",
        ),
        check=is_real, value="value",
    ),
    Rule(
        "netrc-password", "Password in a netrc entry", "secret",
        Anchored(
            ("machine", "default"),
            r"\b(?:machine\s+\S{1,200}|default)\s+login\s+\S{1,100}\s+(?:account\s+\S{1,100}\s+)?password\s+"
            r"(?P<value>[^\s\"'\\]{3,200})",
        ),
        check=is_real, value="value",
    ),
    Rule(
        "registry-login", "Login of a container registry", "secret",
        Anchored(('"auth', "'auth"), r"""["']auth\\?["']\s{0,3}:\s{0,3}\\?["'](?P<value>[A-Za-z0-9+/]{8,400}={0,2})"""),
        check=is_login, value="value",
    ),
    Rule(
        "password-hash", "Hash of a password", "secret",
        Anchored(
            (*(f"${kind}$" for kind in _HASH_KINDS), "{SHA}", "{SSHA}"),
            r"\{S?SHA\}[A-Za-z0-9+/]{27,80}={0,2}"
            r"|\$(?:argon2id?\$v=\d+\$m=\d+,t=\d+,p=\d+|apr1|[156y]|2[aby])\$[A-Za-z0-9./+$,=]{20,150}(?<![.,])",
        ),
        check=is_filled,
    ),
    Rule(
        "password-element", "Password in a markup element", "secret",
        Anchored(
            tuple(f"{mark}{name}" for mark in "<:" for name in _ELEMENTS),
            rf"[<:](?:{'|'.join(_ELEMENTS)})(?:\s[^<>]{{0,200}}(?<!/))?>\s{{0,3}}(?:<!\[CDATA\[)?"
            r"(?P<value>[^<>\s]{3,200}?)(?:\]\]>)?\s{0,3}<",
            ignore_case=True,
        ),
        check=is_real, value="value",
    ),
    Rule(
        "signed-address", "Signature of a shared link", "secret",
        Anchored(("sig=",), r"(?<=[?&;])sig=(?P<value>[A-Za-z0-9%+/_-]{40,200}={0,2})"),
        check=is_random, value="value",
    ),
    Rule(
        "session-cookie", "Session cookie", "secret",
        Anchored(
            (*(f"{name}=" for name in _COOKIES), "s%3a"),
            r"(?:[a-z_.]{3,14}=|(?=s%3A[a-z0-9_-]{16,64}\.[a-z0-9%+/_-]{30,80}))(?P<value>[a-z0-9%._~+/:=-]{16,800})",
            ignore_case=True,
        ),
        check=is_random, value="value",
    ),
)  # fmt: skip
