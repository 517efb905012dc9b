"""Copy the facts of the newest version that the library shows into the chain's row, whenever the head moves."""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from chainviz.accounts.models import User
from chainviz.chains.models import Chain, ChainQuerySet
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.chains.titles import save_title
from chainviz.chains.usage import FACTS, copy_facts, price_again, priced_otherwise
from chainviz.chains.verdicts import next_call_errors, provider_of, verdicts_by_provider
from chainviz.core.chain.messages import Message, text_of
from chainviz.core.providers.check import verdict_from
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.store.content.chain import StoredChain, chain_of
from chainviz.store.content.codec import unpack
from chainviz.store.models import History, Version
from chainviz.store.outline.build import outline_of
from chainviz.store.outline.edition import RULES_EDITION
from chainviz.webhooks.models import Webhook
from chainviz.webhooks.sending import announce

FIRST_WORDS = 90
HEAD = (
    "version", "format", "sections", "pairs", "messages", "size", "problems", "warnings", "verdicts", "rejections", "rules",
    "provider", "health", "own_problems",
    *FACTS,
)  # fmt: skip
"""The fields that `copy_head` writes."""


_PERSON = "user:"


def store_name(user: User) -> str:
    """Return the name of a person in the store."""
    return f"{_PERSON}{user.pk}"


def person_named(name: str) -> int | None:
    """Return the key of the person with this name in the store; None for any other name."""
    key = name.removeprefix(_PERSON)
    return int(key) if key != name and key.isdecimal() else None


def head_moved(chain: Chain, version: Version, by: User) -> None:
    """Update the library after a new version was saved."""
    copy_head(chain, version)
    chain.changed_at = timezone.now()
    chain.changed_by = by
    # no more than that: a title that was read before may have been purged since
    chain.save(update_fields=[*HEAD, "changed_at", "changed_by"])
    save_title(chain, version.snapshot)
    page = reverse("chains:version", args=[chain.pk, version.number])
    facts = {"chain": chain.pk, "version": version.number, "person": by.display_name}
    announce(chain.team_id, Webhook.Event.VERSION_SAVED, page, **facts)


def copy_head(chain: Chain, version: Version) -> None:
    snapshot = version.snapshot
    outline = outline_of(snapshot)
    chain.version = version.number
    chain.format = snapshot.format
    chain.sections = snapshot.sections
    chain.pairs = snapshot.pairs
    chain.messages = snapshot.messages
    chain.size = snapshot.size
    chain.problems = outline.errors
    chain.warnings = outline.warnings
    chain.verdicts = unpack(outline.verdicts)
    chain.rejections = sum(verdict.state == "rejected" for verdict in verdicts_by_provider(chain.verdicts).values())
    chain.rules = outline.rules
    copy_health(chain, chain_of(snapshot))
    copy_facts(chain, outline)


def copy_health(chain: Chain, head: StoredChain) -> None:
    """Copy the verdict of the provider of the next call."""
    provider = provider_of(head)
    own = verdict_from(chain.verdicts.get(provider.name, ()))
    own = replace(own, errors=next_call_errors(head, provider, own.errors))
    chain.provider = provider.name
    chain.own_problems = own.errors
    chain.health = {"rejected": Chain.Health.REFUSED, "unchecked": Chain.Health.PART}.get(own.state, Chain.Health.ACCEPTED)


def first_words(message: Message) -> str:
    return marks(one_line(text_of(message), FIRST_WORDS))


# Chains that were judged by rules of another edition are judged again, as a job: the library shows verdicts of today.


JUDGE = "judge-again"


def judged_otherwise() -> ChainQuerySet:
    return Chain.objects.filter(~Q(rules=RULES_EDITION) | Q(provider=None))


def start_if_needed() -> Job | None:
    """Return the job, if there is anything to judge or to price and no such job waits or runs already."""
    if not (judged_otherwise().exists() or priced_otherwise()) or Job.objects.unfinished().filter(function=JUDGE).exists():
        return None
    return start_job(JUDGE, owner=None)


def judge(key: int) -> bool:
    """Judge the newest version of a chain and title it. Returns False if the chain is gone, or changed meanwhile."""
    chain = Chain.objects.filter(pk=key).first()
    head = History.objects.select_related("head__snapshot", "head__history").get(pk=chain.history).head if chain else None
    if chain is None or head is None:
        return False
    version, rules = chain.version, chain.rules
    try:
        copy_head(chain, head)
    except Exception:
        if History.objects.filter(pk=head.history_id, edition=head.history.edition).exists():
            raise
        return False  # what it was reading was purged under it; that purge judges the chain
    values = {name: getattr(chain, name) for name in HEAD}
    with transaction.atomic():
        if not History.objects.select_for_update().filter(pk=head.history_id, edition=head.history.edition).exists():
            return False  # what was read has been purged
        is_same = bool(Chain.objects.filter(pk=key, version=version, rules=rules).update(**values))
        if is_same:
            save_title(chain, head.snapshot)
    return is_same


def judge_again(context: JobContext) -> int:
    """Return how many chains it judged."""
    keys = list(judged_otherwise().order_by("-changed_at").values_list("pk", flat=True))
    judged = 0
    for place, key in enumerate(keys):
        context.report(place / len(keys), f"Chain {place + 1:,} of {len(keys):,}")
        judged += judge(key)
    for key in priced_otherwise():
        price_again(key)
    return judged
