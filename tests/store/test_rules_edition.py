"""The edition of the rules rises with the rules, with the form of an outline and with the facts in the library, so that stored chains are
judged again."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from chainviz.chains.usage import FACTS
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.providers.rules import Rule
from chainviz.store.outline.edition import DIGESTS, RULES_EDITION
from chainviz.store.outline.measures import Measure
from chainviz.store.outline.rows import Row


def values() -> Iterator[object]:
    """Return the values on which stored verdicts depend: the rules of providers without their sources, and the facts of a chain."""
    yield Row._fields, Measure._fields, FACTS
    for provider in PROVIDERS:
        yield provider.name, sorted(provider.formats), sorted(provider.sessions), sorted(provider.kinds), provider.call_ids
        yield [(name, choice.id if isinstance(choice, Rule) else "chosen") for name, choice in provider.rules.items()]
        for rule in provider.all_rules:
            yield rule.id, rule.severity, rule.says, rule.fixes, rule.models, rule.note


def test_changed_rules_have_a_new_edition() -> None:
    digest = sha256(repr(list(values())).encode()).hexdigest()[:16]
    assert DIGESTS[RULES_EDITION] == digest, f'Add to chainviz/store/outline/edition.py: {RULES_EDITION + 1}: "{digest}",'
