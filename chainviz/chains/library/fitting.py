"""The chains that fit a filter."""

from __future__ import annotations

import json
from collections.abc import Sequence, Set

from django.db.models import Q

from chainviz.accounts.models import Membership, User
from chainviz.chains.folders.chain_folders import in_folder
from chainviz.chains.library.filter import Filter, bytes_of, day_of, end_of
from chainviz.chains.library.search.search_text import Term
from chainviz.chains.models import ChainQuerySet
from chainviz.core.formats import FORMATS
from chainviz.core.providers.verdict import verdict_from
from chainviz.store.models import Step
from chainviz.store.search.index import unindexed
from chainviz.store.search.lookup import histories_with, histories_with_together
from chainviz.web.query_params import small_number


def fitting(chains: ChainQuerySet, wanted: Filter, member: Membership) -> ChainQuerySet:
    """`member`: whose drafts are meant, and who may see folders or not."""
    chains = _with_facts(chains, wanted)
    if wanted.only_drafts:
        chains = with_open_draft(chains, member.user)
    if wanted.folder:
        chains = chains.filter(in_folder(wanted.folder, member))
    if wanted.label:
        chains = _labelled(chains, wanted.label)
    if wanted.verdict:
        chains = _judged(chains, wanted.verdict)
    return _with_terms(chains, wanted.terms) if wanted.terms else chains


def _with_terms(chains: ChainQuerySet, terms: Sequence[Term]) -> ChainQuerySet:
    """Chains whose title or content has all of them, and none of those that are left out."""
    fit = set(chains.values_list("history", flat=True))
    unread = set(unindexed().filter(pk__in=fit).values_list("pk", flat=True))
    wanted = sorted((term for term in terms if not term.is_excluded), key=lambda term: len(term.phrase.words))
    read = [term.phrase for term in wanted if term.is_indexed]
    sure = histories_with_together(read, fit - unread) if len(read) > 1 else set()
    for term in wanted:
        open_ones = fit - sure if term.is_indexed else fit
        fit -= open_ones - _with_term(chains, term, open_ones, unread)
    for term in terms:
        fit -= _with_term(chains, term, fit, unread) if term.is_excluded else set()
    return chains.filter(history__in=fit)


def _with_term(chains: ChainQuerySet, term: Term, among: Set[int], unread: Set[int]) -> set[int]:
    """Those of some chains that have a term. `unread`: chains whose content is not in the index."""
    found = histories_with(term.phrase, among - unread) if term.is_indexed else set()
    if among <= found:
        return found
    return found | (among & set(chains.filter(_names(term)).values_list("history", flat=True)))


def with_open_draft(chains: ChainQuerySet, person: User) -> ChainQuerySet:
    """Chains with a draft of the person that is open and holds steps. The table of drafts belongs to chainviz.drafts."""
    is_open = {"drafts__author": person, "drafts__discarded_at": None, "drafts__saved_as": None}
    drafted = chains.filter(**is_open, drafts__key__in=Step.objects.order_by().values("draft"))
    return chains.filter(pk__in=drafted.values("pk"))


def _names(term: Term) -> Q:
    """In the title, the file's name or the name of the format."""
    named = [each.name for each in FORMATS if term.text.lower() in each.label.lower()]
    return Q(title__icontains=term.text) | Q(file_name__icontains=term.text) | Q(format__in=named)


def _with_facts(chains: ChainQuerySet, wanted: Filter) -> ChainQuerySet:
    at_least, at_most = bytes_of(wanted.larger), bytes_of(wanted.smaller)
    since, until = day_of(wanted.since), end_of(wanted.until)
    conditions = (
        (wanted.only_problems, Q(problems__gt=0) | Q(warnings__gt=0)),
        (wanted.only_errors, Q(tool_errors__gt=0)),
        (wanted.format, Q(format=wanted.format)),
        (wanted.tool, Q(tools__contains=f"[{json.dumps(wanted.tool)}, ")),
        (wanted.model, Q(model=wanted.model) | Q(usage__contains=f"{json.dumps(wanted.model)}: ")),
        (wanted.problem, _breaks(wanted.problem)),
        (at_least is not None, Q(size__gte=at_least or 0)),
        (at_most is not None, Q(size__lte=at_most or 0)),
        (since, Q(changed_at__gte=since)),
        (until, Q(changed_at__lt=until)),
    )
    return chains.filter(*(condition for is_asked, condition in conditions if is_asked))


def _breaks(rule: str) -> Q:
    """A rule of the structure, of a provider (`anthropic:first-role`), or of whichever provider has one of this name."""
    name = json.dumps(rule)[1:]
    return Q(rules_broken__contains=f'"{name}') | Q(rules_broken__contains=f":{name}")


def _labelled(chains: ChainQuerySet, label: str) -> ChainQuerySet:
    """Chains that have the label, themselves or on a node. The table of labels belongs to the review."""
    kind, _, said = label.partition(":")
    value = {"labels__name": said} if kind == "tag" else {"labels__value": small_number(said)}
    return chains.filter(pk__in=chains.filter(labels__kind=kind, **value).values("pk"))


def _judged(chains: ChainQuerySet, verdict: str) -> ChainQuerySet:
    """A provider that is not in a chain's verdicts has no problem with it."""
    provider, _, state = verdict.partition(":")
    counted = chains.values_list("pk", "verdicts")
    return chains.filter(pk__in=[pk for pk, said in counted if verdict_from(said.get(provider, ())).state == state])
