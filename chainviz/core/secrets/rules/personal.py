"""Personal data: what tells who somebody is, where a form or a checksum makes it certain enough."""

from __future__ import annotations

import re

from chainviz.core.secrets.rules import checks
from chainviz.core.secrets.rules.rule import Anchored, Rule

# Patterns begin with a letter or digit and look behind after it: `re` finds their first character many times faster.
PERSONAL: tuple[Rule, ...] = (
    Rule(
        "email", "E-mail address", "personal",
        re.compile(
            r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9_%+-][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,5}[A-Za-z]{2,24}(?![A-Za-z0-9])"
        ),
        ("@",), checks.is_mailbox, ignores_case=True,
    ),
    Rule(
        "iban", "IBAN", "personal",
        re.compile(r"[A-Z](?<![A-Za-z0-9].)[A-Z][0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"),
        (), checks.is_iban, tail=4,
    ),
    Rule(
        "card", "Payment card", "personal",
        re.compile(r"[2-6](?<![\w.+-].)[0-9]{3}(?:[ -]?[0-9]{2,6}){2,4}(?![\w-])(?!\.[0-9])", re.ASCII),
        (), checks.is_card, tail=4,
    ),
    Rule(
        "us-ssn", "US social security number", "personal",
        re.compile(r"[0-8](?<![\w-].)[0-9]{2}(?<!000)(?<!666)-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![\w-])", re.ASCII), ("-",),
    ),
    Rule(
        "phone", "Phone number", "personal",
        re.compile(r"\+(?<![\w+/=.-].)[0-9]{1,3}[ .-]?(?:\([0-9]{1,4}\)[ .-]?)?[0-9]{1,4}(?:[ .-]?[0-9]{2,4}){1,5}(?![\w-])", re.ASCII),
        ("+",), checks.is_phone, tail=2,
    ),
    Rule(
        "phone-us", "Phone number", "personal",
        re.compile(r"[(2-9](?<![\w.-].)(?:(?<=\()[2-9][0-9]{2}\) ?|(?<!\()[0-9]{2}-)[2-9][0-9]{2}-[0-9]{4}(?![\w-])", re.ASCII),
        ("-",), checks.is_phone, tail=2,
    ),
    Rule(
        "phone-named", "Phone number", "personal",
        Anchored(
            ("phone", "tel", "mobile", "cell", "fax"),
            r"""\b(?:(?:tele|cell)?phone|tel|mobile|cell|fax)(?:[ _]?(?:number|no|nr))?\b["'\\.]{0,3}\s{0,2}[:=#]?\s{0,2}["'\\]{0,2}"""
            r"""(?P<value>\+?[0-9(][0-9() ./-]{6,18}[0-9])(?![\w-])""",
            ignore_case=True,
        ),
        check=checks.is_phone, value="value", tail=2,
    ),
    Rule(
        "ip", "IP address", "personal",
        re.compile(r"[0-9](?<![\w.].)[0-9]{0,2}(?:\.[0-9]{1,3}){3}(?![\w]|\.[0-9])", re.ASCII), (".",), checks.is_address,
    ),
    Rule(
        "ipv6", "IP address", "personal",
        re.compile(r"[0-9A-Fa-f:](?<![\w:.].)(?:(?<=:):|(?<!:)[0-9A-Fa-f]{0,3}:)[0-9A-Fa-f:]{4,38}(?![\w:])", re.ASCII),
        (":",), checks.is_address_6,
    ),
)  # fmt: skip
