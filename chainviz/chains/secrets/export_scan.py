"""Scan an export for secrets before it is downloaded, and describe the findings; a job scans large ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from chainviz.accounts.models import User
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.secrets.files import (
    FILE,
    FileFindings,
    file_findings_of,
    findings_in,
    findings_in_texts,
    names_by_people,
    start_file_scan,
)
from chainviz.chains.secrets.findings import AT_ONCE, is_long, scan
from chainviz.chains.secrets.scans import SCAN, scan_args, spots_of, start_scan
from chainviz.core.counts import count_text
from chainviz.core.secrets import get_rule
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.store.models import Upload
from chainviz.store.transfer import exports
from chainviz.web.http import url_or_nothing

NAMED = 5


@dataclass(frozen=True, slots=True)
class SecretNotice:
    state: str
    icon: str
    title: str
    text: str
    href: str = ""
    action: str = ""
    label: str = "Secrets"


@dataclass(frozen=True, slots=True)
class ExportScan:
    """The results of the scans before an export."""

    notices: tuple[SecretNotice, ...] = ()
    waits: bool = False
    """True if something is too large to be searched while the person waits."""
    job: Job | None = None
    """The newest scan of it, which is not done."""

    @property
    def is_running(self) -> bool:
        return self.job is not None and not self.job.is_finished

    @property
    def has_secrets(self) -> bool:
        return any(notice.state == "problem" for notice in self.notices)


def scan_before_export(subject: Subject, upload: Upload | None, user: User) -> ExportScan:
    """Return the findings before an export. `upload`: the file of the chain, if it contains more than this content,
    since it may be exported too."""
    jobs = [_latest(kind, args, user) for kind, args in _needed_jobs(subject, upload)]
    undone = [job for job in jobs if job is None or job.state != Job.State.DONE]
    if undone:
        return ExportScan(waits=True, job=next((job for job in undone if job is not None), None))
    done = {job.function: job for job in jobs if job is not None}
    spots = spots_of(done[SCAN]) if SCAN in done else list(scan(subject.stored))
    values = len({spot.mark for spot in spots})
    notices = [_of(Counter(spot.rule for spot in spots), values, mask_address(subject))]
    if upload is not None:
        found = file_findings_of(done[FILE]) if FILE in done else findings_in(exports.original(upload))
        if found.values > values:
            notices.append(_of_file(found, purge_address(subject)))
    named = findings_in_texts(names_by_people(subject.chain))
    if named.by_rule:
        notices.append(_of_names(named, url_or_nothing("chains:versions", subject.chain.pk)))
    return ExportScan(tuple(notices))


def before_source(subject: Subject, text: str) -> SecretNotice:
    """Scan one node, whose source may be downloaded alone."""
    href = mask_address(subject)
    if len(text) > AT_ONCE:
        return SecretNotice("changed", "info", "This source is long", "Export scans the whole chain.", href, "Scan for secrets")
    found = findings_in([text.encode("utf-8", "replace")])
    return _of(found.by_rule, found.values, href)


def mask_address(subject: Subject) -> str:
    return subject.change_url("drafts:operation", "mask")


def purge_address(subject: Subject) -> str:
    """Return the page of a purge with the values of this version filled in; "" for a person who may not."""
    url = url_or_nothing("purge", subject.chain.pk) if "purge" in subject.permissions else ""
    return f"{url}?masked={subject.version or subject.chain.version}" if url else ""


def start_scans(subject: Subject, upload: Upload | None, user: User) -> None:
    """Start the scans that are neither done nor running."""
    for kind, args in _needed_jobs(subject, upload):
        job = _latest(kind, args, user)
        if job is None or (job.is_finished and job.state != Job.State.DONE):
            if kind == SCAN:
                start_scan(subject.snapshot, user)
            else:
                start_file_scan(args, user)


def stop_scans(subject: Subject, upload: Upload | None, user: User) -> None:
    for kind, args in _needed_jobs(subject, upload):
        job = _latest(kind, args, user)
        if job is not None and not job.is_finished:
            lease.cancel(job)


def _needed_jobs(subject: Subject, upload: Upload | None) -> list[tuple[str, dict[str, int]]]:
    """Return the jobs that are needed before the findings are known."""
    wanted = [(SCAN, scan_args(subject.snapshot))] if is_long(subject.stored) else []
    if upload is not None and upload.size > AT_ONCE:
        wanted.append((FILE, {"upload": upload.pk, "edition": subject.snapshot.history.edition}))
    return wanted


def _latest(function: str, args: dict[str, int], user: User) -> Job | None:
    return Job.objects.visible_to(user).filter(function=function, args=args).order_by("-pk").first()


def _of(by_rule: Mapping[str, int], values: int, href: str) -> SecretNotice:
    if not by_rule:
        text = (
            "Rules for keys, passwords, tokens and personal data found nothing. Rules match patterns; they cannot understand "
            "meaning. Signatures of reasoning are not searched."
        )
        return SecretNotice("ok", "ok", "No secrets were found", text)
    title = f"{_count(values, sum(by_rule.values()))} in it"
    return SecretNotice("problem", "problem", title, f"{_rules_text(by_rule)}.", href, "Review and mask")


def _count(values: int, places: int) -> str:
    """Such as `1 possible secret` or `2 possible secrets in 5 places`."""
    return count_text(values, "possible secret") + (f" in {count_text(places, 'place')}" if places > values else "")


def _of_file(found: FileFindings, href: str) -> SecretNotice:
    title = f"{_count(found.values, found.total)} in the file as it was uploaded"
    text = f"{_rules_text(found.by_rule)}. Downloading the upload includes them all. A purge removes values everywhere."
    return SecretNotice("changed", "info", title, text, href, "Purge values", "Secrets in the file")


def _of_names(found: FileFindings, href: str) -> SecretNotice:
    title = f"{count_text(found.total, 'finding')} in the title or the file name"
    text = f"{_rules_text(found.by_rule)}. Web page and Markdown show the title; every download is named after the file."
    return SecretNotice("problem", "problem", title, text, href, "Rename", "Secrets in the names")


def before_written(what: str, texts: Iterable[str], subject: Subject) -> SecretNotice | None:
    """Scan the files of labels or comments, which `what` names; None if nothing was found."""
    known, size = [], 0
    for text in texts:
        known.append(text)
        size += len(text)
        if size > AT_ONCE:
            text = "Scan the whole library for secrets: that includes them."
            return SecretNotice("changed", "info", f"These {what} are long", text, url_or_nothing("chains:secrets"), "Scan for secrets")
    found = findings_in_texts(known)
    if not found.by_rule:
        return None
    title = f"{_count(found.values, found.total)} in title and {what}"
    text = f"{_rules_text(found.by_rule)}. The files include them. A purge removes values everywhere."
    return SecretNotice("problem", "problem", title, text, purge_address(subject), "Purge values")


def _rules_text(by_rule: Mapping[str, int]) -> str:
    counts = Counter({rule.label: count for name, count in by_rule.items() if (rule := get_rule(name))}).most_common()
    named = ", ".join(f"{label} {count:,}" for label, count in counts[:NAMED])
    return named + (f" and {count_text(len(counts) - NAMED, 'more kind')}" if len(counts) > NAMED else "")
