"""Secrets and personal data: rules as data, scanning, and placeholders that are the same for the same value everywhere.

In reading order: `rules`, `word_lists`, `part_texts` (what is searched), `scan`, `known_values` (masking and purging), `spellings`.
"""

from __future__ import annotations

from chainviz.core.secrets.known_values import Masker, Strategy, Values, mask, mask_text
from chainviz.core.secrets.rule import Rule
from chainviz.core.secrets.rules import RULES, SECRETS, get_rule
from chainviz.core.secrets.scan import Finding, Occurrence, fingerprint, scan_chain, scan_message, scan_text
from chainviz.core.secrets.spellings import spellings
from chainviz.core.secrets.word_lists import WordList, own_rule, own_rules

__all__ = [
    "RULES", "SECRETS", "Finding", "Masker", "Occurrence", "Rule", "Strategy", "Values", "WordList", "fingerprint", "get_rule", "mask",
    "mask_text", "own_rule", "own_rules", "scan_chain", "scan_message", "scan_text", "spellings",
]  # fmt: skip
