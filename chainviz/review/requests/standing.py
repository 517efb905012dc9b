"""Compare a chain's newest version with the rules of its team: approvals, threads, problems, secrets, sign-off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from django.db.models import Count

from chainviz.accounts.models import Membership
from chainviz.accounts.permissions import may
from chainviz.chains.models import Chain
from chainviz.chains.verdicts import own_and_others, short_name
from chainviz.core.counts import count_text
from chainviz.review.models import ReviewRequest, SignOff, TeamRules, Thread, Verdict, rules_of
from chainviz.review.requests.services import Search, search_of
from chainviz.store.models import History


@dataclass(frozen=True, slots=True)
class Check:
    """One rule and whether the version meets it."""

    name: str
    is_met: bool
    text: str
    note: str = ""
    is_asked: bool = True
    """True if the team requires it; otherwise it is only information."""


@dataclass(frozen=True)
class Standing:
    chain: Chain
    rules: TeamRules
    verdicts: tuple[Verdict, ...] = ()
    """The verdict of each person that counts: their newest approval or "needs changes" that was not dismissed."""
    open_threads: int = 0
    request: ReviewRequest | None = None
    sign_off: SignOff | None = None
    """The sign-off of the newest version."""
    search: Search | None = None
    """The search for secrets, or None if none was requested."""
    roles: Mapping[int, str] = field(default_factory=dict)
    """The roles of team members by their keys, for those who were asked or gave a verdict."""

    @property
    def approvals(self) -> tuple[Verdict, ...]:
        return tuple(each for each in self._newest_approvals if not self.why_not_reviewer(each.person_id))

    @property
    def not_counted(self) -> tuple[Verdict, ...]:
        """Return the approvals of the newest version whose authors may no longer give verdicts."""
        return tuple(each for each in self._newest_approvals if self.why_not_reviewer(each.person_id))

    @property
    def _newest_approvals(self) -> tuple[Verdict, ...]:
        return tuple(each for each in self.verdicts if each.kind == Verdict.Kind.APPROVE and not self.is_stale(each))

    @property
    def stale(self) -> tuple[Verdict, ...]:
        return tuple(each for each in self.verdicts if each.kind == Verdict.Kind.APPROVE and self.is_stale(each))

    def why_not_reviewer(self, person: int) -> str:
        """Return an empty text for who may still give verdicts."""
        role = self.roles.get(person)
        if role is None:
            return "no longer a member of the team"
        return "" if may(role, "verdict") else f"now a {role}"

    @property
    def objections(self) -> tuple[Verdict, ...]:
        """Return the requests for changes, also those of former members. They count until their authors give another verdict, or somebody
        dismisses them."""
        return tuple(each for each in self.verdicts if each.kind == Verdict.Kind.CHANGES)

    def is_stale(self, verdict: Verdict) -> bool:
        return verdict.version < self.chain.version

    @property
    def checks(self) -> tuple[Check, ...]:
        return tuple(filter(None, (self._approved(), self._objected(), self._threads(), self._problems(), self._secrets())))

    @property
    def is_ready(self) -> bool:
        """True if every rule is met; False until the secrets of which a rule asks were searched."""
        return all(check.is_met for check in self.checks if check.is_asked)

    def _approved(self) -> Check:
        count, needed = len(self.approvals), self.rules.approvals
        text = f"{count} of {count_text(needed, 'approval')}" if needed > count else count_text(count, "approval")
        notes = [f"{len(self.stale)} {'is' if len(self.stale) == 1 else 'are'} stale"] if self.stale else []
        notes += [f"{each.name}’s does not count: {self.why_not_reviewer(each.person_id)}" for each in self.not_counted]
        return Check("approvals", count >= needed, text, ", ".join(notes), is_asked=needed > 0)

    def _objected(self) -> Check | None:
        if not self.objections:
            return None
        names = ", ".join(self._name(each) for each in self.objections)
        return Check("objections", False, "Changes needed", f"asked for by {names}")

    def _name(self, verdict: Verdict) -> str:
        why = self.why_not_reviewer(verdict.person_id)
        return f"{verdict.name} ({why})" if why else verdict.name

    def _threads(self) -> Check:
        text = count_text(self.open_threads, "open thread") if self.open_threads else "No open threads"
        return Check("threads", not self.open_threads, text, is_asked=self.rules.no_open_threads)

    def _problems(self) -> Check:
        chain = self.chain
        own, _ = own_and_others(chain)
        said = [f"{short_name(provider)}: {verdict.text}" for provider, verdict in own.items()]
        is_met = not chain.problems and all(verdict.state == "accepted" for verdict in own.values())
        text = count_text(chain.problems, "structure error") if chain.problems else "No errors" if is_met else "Not accepted"
        return Check("problems", is_met, text, ", ".join(said), is_asked=self.rules.no_problems)

    @property
    def secrets(self) -> int | None:
        """Return the number of found values; None if the content was not searched."""
        return self.search.values if self.search is not None else None

    def _secrets(self) -> Check | None:
        asked = self.rules.no_secrets
        if self.search is None and not asked:
            return None
        if self.secrets is None:
            return Check("secrets", False, "Not searched for secrets", self.search.note if self.search else "", asked)
        text = count_text(self.secrets, "secret") + " found" if self.secrets else "No secrets found"
        return Check("secrets", not self.secrets, text, self._searched(), asked)

    def _searched(self) -> str:
        return f"{count_text(self.chain.messages, 'message')} searched"

    @property
    def badge(self) -> Badge | None:
        """A few words for the header of the chain and its row in the library; None without a request for review."""
        if self.sign_off is not None:
            return Badge("ok", "approve", "signed off")
        if self.request is None and not self.verdicts and not self.rules.locks_export:
            return None
        unmet = [check.text for check in self.checks if check.is_asked and not check.is_met and check.name != "secrets"]
        if not unmet:
            return Badge("ok", "ok", self._approved().text if self.rules.no_secrets else "rules met")
        state: State = "problem" if self.objections else "changed"
        return Badge(state, "lock" if self.rules.locks_export else "pending", " · ".join(unmet).lower())


State = Literal["ok", "problem", "changed"]


@dataclass(frozen=True, slots=True)
class Badge:
    state: State
    icon: str
    text: str


def standing_of(chain: Chain) -> Standing:
    """Return the standing with a search for secrets, or the result of the last search of a long chain."""
    return replace(standings([chain])[chain.pk], search=search_of(chain))


def standings(chains: Sequence[Chain], *, for_badges: bool = False) -> dict[int, Standing]:
    """Return the standing of chains of one team, by their keys. A few queries for all, so without a search for secrets.
    A badge needs the threads of chains with a review only."""
    if not chains:
        return {}
    keys = [chain.pk for chain in chains]
    rules = rules_of(chains[0].team_id)
    requests = {each.chain_id: each for each in ReviewRequest.objects.filter(chain__in=keys, closed_at=None)}
    verdicts = _counting(Verdict.objects.filter(chain__in=keys, dismissed_at=None).order_by("pk"))
    is_all = not for_badges or rules.locks_export
    threads = dict(_open_threads(keys if is_all else [key for key in keys if key in requests or key in verdicts]))
    signed = _sign_offs(chains)
    roles = _roles(chains[0].team_id) if requests or verdicts else {}
    return {
        chain.pk: Standing(
            chain,
            rules,
            tuple(verdicts.get(chain.pk, ())),
            threads.get(chain.pk, 0),
            requests.get(chain.pk),
            signed.get(chain.pk),
            roles=roles,
        )
        for chain in chains
    }


def _counting(verdicts: Iterable[Verdict]) -> dict[int, list[Verdict]]:
    """Return for each chain the newest verdict of each person; a comment does not replace one."""
    newest: dict[tuple[int, int], Verdict] = {}
    for each in verdicts:
        if each.kind != Verdict.Kind.COMMENT:
            newest[each.chain_id, each.person_id] = each
    found: dict[int, list[Verdict]] = {}
    for verdict in newest.values():
        found.setdefault(verdict.chain_id, []).append(verdict)
    return found


def _roles(team: int) -> dict[int, str]:
    return dict(Membership.objects.active().filter(team=team).values_list("user", "role"))


def _open_threads(keys: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Return the threads with at least one sent comment."""
    threads = Thread.objects.open().filter(chain__in=keys, comments__sent_at__isnull=False)
    return threads.order_by().values_list("chain").annotate(count=Count("pk", distinct=True))


def _sign_offs(chains: Sequence[Chain]) -> dict[int, SignOff]:
    found = list(SignOff.objects.sign_offs().filter(chain_key__in=[chain.pk for chain in chains]).order_by("pk"))
    keys = {each.chain_key for each in found}
    signed = [chain for chain in chains if chain.pk in keys]
    editions = dict(History.objects.filter(pk__in=[chain.history for chain in signed]).values_list("pk", "edition"))
    wanted = {chain.pk: (chain.version, editions.get(chain.history)) for chain in signed}
    return {each.chain_key: each for each in found if (each.version, each.edition) == wanted[each.chain_key]}
