"""Secrets known by the syntax of one tool: command lines, netrc, Docker, password hashes, markup, signed links, cookies."""

from __future__ import annotations

from chainviz.core.secrets.rules.checks import is_element, is_filled, is_login, is_random, is_real
from chainviz.core.secrets.rules.rule import Anchored, Rule

_HASH_KINDS = (
    "1", "2a", "2b", "2x", "2y", "5", "6", "y", "gy", "P", "H", "apr1", "sha1", "scrypt",
    "argon2i", "argon2d", "argon2id", "pbkdf2", "pbkdf2-sha1", "pbkdf2-sha256", "pbkdf2-sha512",
)  # fmt: skip
_ELEMENTS = (
    "password", "passwd", "passphrase", "pwd", "secret", "token", "credential",
    *(f"{what}{join}key" for what in ("api", "access", "private", "secret") for join in ("", "_", "-")),
)  # fmt: skip
_OPEN, _CLOSE = r"(?:>|&gt;|\\{1,4}u003e)", r"(?:<|&lt;|\\{1,4}u003c)"
_SPACE = r"""[\s"'\\,]{1,6}"""
"""Between the words of a command, or of a list of them in JSON."""
_COOKIES = ("sessionid", "session", "connect.sid", "phpsessid", "jsessionid", "remember_token", "auth_token")

TOOL_SYNTAX: tuple[Rule, ...] = (
    Rule(
        "command-password", "Password given to a command", "secret",
        Anchored(
            ("mysql", "mariadb", "sshpass", "SSHPASS="),
            r"(?:(?:mysql|mariadb)(?:-?dump|-?admin|-?import)?\s(?:[^\n]{0,200}?\s)??-p|SSHPASS="
            rf"""|sshpass(?:{_SPACE}-(?:v|P{_SPACE}[^\s"',]{{1,40}})){{0,2}}{_SPACE}-p(?:\\?["'],)?\s{{0,2}})"""
            r"""(?:\\?(?P<quote>["'])(?=[^"'\\\n]{3,100}["'\\])|\\?["']?)"""
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
            (*(f"${kind}{sign}" for kind in _HASH_KINDS for sign in "$\\"), "pbkdf2_sha", "{SHA}", "{SSHA}"),
            r"\{S?SHA\}[A-Za-z0-9+/]{27,80}={0,2}"
            rf"|(?:\$(?:{'|'.join(_HASH_KINDS)})|(?<![A-Za-z0-9])pbkdf2_sha(?:1|256|512))"
            # a shell wants the signs escaped
            r"\\{0,4}\$(?:[A-Za-z0-9./+,=]|\\{0,4}\$){20,160}(?<![.,])",
        ),
        check=is_filled,
    ),
    Rule(
        "password-element", "Password in a markup element", "secret",
        Anchored(
            _ELEMENTS,
            rf"(?P<name>{'|'.join(_ELEMENTS)})(?:\s[^<>]{{0,200}}(?<!/))?{_OPEN}\s{{0,3}}(?:<!\[CDATA\[)?"
            rf"(?P<value>[^<>\s]{{3,200}}?)(?:\]\]>)?\s{{0,3}}{_CLOSE}\\{{0,4}}/",
            ignore_case=True,
        ),
        check=is_element, value="value",
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
