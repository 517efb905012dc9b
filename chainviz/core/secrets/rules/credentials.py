"""Secrets recognised by their place (a header, an address, an assignment, a key block) or the syntax of a tool, and personal data
that a form or a checksum makes certain enough."""

from __future__ import annotations

import re

from chainviz.core.secrets.rules import rule
from chainviz.core.secrets.rules.rule import Anchored, Rule, is_assigned, is_element, is_filled, is_login, is_random, is_real

_QUOTES = r"""["'`\\]{0,4}"""
"""Quotation marks around a key or value, escaped or not."""
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
            ignore_case=True, follow=rf"s?{_QUOTES}\s{{0,3}}(?:[:=]|is\s)",
        ),
        check=is_assigned, value="value",
    ),
)  # fmt: skip


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
"""The separator between the words of a command, or of a list of them in JSON."""
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
        hints=("<", "&lt;", "&LT;", "u003c", "u003C"), check=is_element, value="value",
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


# Patterns begin with a letter or digit and look behind after it: `re` finds their first character many times faster.
PERSONAL: tuple[Rule, ...] = (
    Rule(
        "email", "E-mail address", "personal",
        re.compile(
            r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9_%+-][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,5}[A-Za-z]{2,24}(?![A-Za-z0-9])"
        ),
        ("@",), rule.is_mailbox, ignores_case=True,
    ),
    Rule(
        "iban", "IBAN", "personal",
        re.compile(r"[A-Z](?<![A-Za-z0-9].)[A-Z][0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"),
        (), rule.is_iban, tail=4,
    ),
    Rule(
        "card", "Payment card", "personal",
        re.compile(r"[2-6](?<![\w.+-].)[0-9]{3}(?:[ -]?[0-9]{2,6}){2,4}(?![\w-])(?!\.[0-9])", re.ASCII),
        (), rule.is_card, tail=4,
    ),
    Rule(
        "us-ssn", "US social security number", "personal",
        re.compile(r"[0-8](?<![\w-].)[0-9]{2}(?<!000)(?<!666)-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![\w-])", re.ASCII), ("-",),
    ),
    Rule(
        "phone", "Phone number", "personal",
        re.compile(r"\+(?<![\w+/=.-].)[0-9]{1,3}[ .-]?(?:\([0-9]{1,4}\)[ .-]?)?[0-9]{1,4}(?:[ .-]?[0-9]{2,4}){1,5}(?![\w-])", re.ASCII),
        ("+",), rule.is_phone, tail=2,
    ),
    Rule(
        "phone-us", "Phone number", "personal",
        re.compile(r"[(2-9](?<![\w.-].)(?:(?<=\()[2-9][0-9]{2}\) ?|(?<!\()[0-9]{2}-)[2-9][0-9]{2}-[0-9]{4}(?![\w-])", re.ASCII),
        ("-",), rule.is_phone, tail=2,
    ),
    Rule(
        "phone-named", "Phone number", "personal",
        Anchored(
            ("phone", "tel", "mobile", "cell", "fax"),
            r"""\b(?:(?:tele|cell)?phone|tel|mobile|cell|fax)(?:[ _]?(?:number|no|nr))?\b["'\\.]{0,3}\s{0,2}[:=#]?\s{0,2}["'\\]{0,2}"""
            r"""(?P<value>\+?[0-9(][0-9() ./-]{6,18}[0-9])(?![\w-])""",
            ignore_case=True,
        ),
        check=rule.is_phone, value="value", tail=2,
    ),
    Rule(
        "ip", "IP address", "personal",
        re.compile(r"[0-9](?<![\w.].)[0-9]{0,2}(?:\.[0-9]{1,3}){3}(?![\w]|\.[0-9])", re.ASCII), (".",), rule.is_address,
    ),
    Rule(
        "ipv6", "IP address", "personal",
        re.compile(r"[0-9A-Fa-f:](?<![\w:.].)(?:(?<=:):|(?<!:)[0-9A-Fa-f]{0,3}:)[0-9A-Fa-f:]{4,38}(?![\w:])", re.ASCII),
        (":",), rule.is_address_6,
    ),
)  # fmt: skip
