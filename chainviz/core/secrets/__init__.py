"""Secrets and personal data: rules as data, scanning, and placeholders that are the same for the same value everywhere."""

from __future__ import annotations

from chainviz.core.secrets.masking import Masker, Strategy, mask, mask_text
from chainviz.core.secrets.own_rules import own_rule, own_rules
from chainviz.core.secrets.rule import Rule
from chainviz.core.secrets.rules import RULES, SECRETS, get_rule
from chainviz.core.secrets.scan import Finding, fingerprint, scan_message, scan_messages, scan_text
from chainviz.core.secrets.spellings import spellings
from chainviz.core.secrets.values import Values

__all__ = [
    "RULES", "SECRETS", "Finding", "Masker", "Rule", "Strategy", "Values", "fingerprint", "get_rule", "mask", "mask_text",
    "own_rule", "own_rules", "scan_message", "scan_messages", "scan_text", "spellings",
]  # fmt: skip
