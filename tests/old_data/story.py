"""What is in the old data folders: what a person did on the product's pages, with a worker running jobs.

It ran at commit 29970b1 (see make.py) and stays as the record; later versions of the product need not run it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from html import unescape
from typing import Any
from unittest.mock import patch

from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from chainviz.jobs.worker import make_worker
from tests.chains.making import STORY, ai, human, result
from tests.drafts.pages import fields_of
from tests.drafts.summary_story import story, work
from tests.old_data.reading import open_client
from tests.shared_folder import SAMPLES

FILES = [
    "anthropic/broken_unpaired.json",
    "anthropic/ok_request.json",
    "claude_code/ok_compacted.jsonl",
    "claude_code/ok_session.jsonl",
    "langchaingo/broken_chain.json",
    "langchaingo/ok_reasoning_summarised.json",
    "openai_chat/ok_litellm_reasoning.json",
    "openai_chat/ok_message_per_line.jsonl",
]
SEVERAL_CHAINS = {"finetune.jsonl": "openai_chat/ok_finetune.jsonl", "run.traj.json": "swe_agent/ok_run.traj.json"}
MAIL = "ada.lovelace@analytical-engine.org"
CARD = "4539578763621486"
PURGED = 'opération/"mistral"'
"""JSON escapes three of its characters, so files, texts and titles spell it differently."""


class Person:
    """Uses the product as a browser without JavaScript does."""

    def __init__(self) -> None:
        self.client = open_client()

    def page(self, address: str) -> str:
        answer = self.client.get(address)
        assert answer.status_code == 200, f"{address}: {answer.status_code}"
        return str(answer.content.decode())

    def press(self, address: str, **fields: Any) -> str:
        """Sends these fields. Returns the address that the answer redirects to."""
        answer = self.client.post(address, fields)
        assert answer.status_code == 303, f"{address}: {answer.status_code}"
        return str(answer["Location"])

    def fill_in(self, address: str, **changed: Any) -> str:
        """Sends the form of a page with some fields changed (`-` in names written as `__`). Returns as `press` does."""
        fields: dict[str, Any] = dict(fields_of(self.page(address)))
        return self.press(address, **fields | {name.replace("__", "-"): value for name, value in changed.items()})

    def upload(self, name: str, content: bytes) -> str:
        """Returns the address of the new chain, or of the page that offers several."""
        return self.press("/upload/", file=SimpleUploadedFile(name, content))

    def upload_messages(self, name: str, messages: list[dict[str, Any]], **envelope: Any) -> str:
        return self.upload(name, json.dumps({**envelope, "messages": messages}).encode())

    def chain(self, title: str) -> str:
        """Returns the address that the library has for this title."""
        found = re.search(rf'class="chain-link" href="([^"]+)">{re.escape(title)}<', self.page("/"))
        assert found is not None, title
        return found[1]

    def save(self, draft: str, note: str = "") -> None:
        self.press(f"{draft}save", note=note)

    def delete_for_good(self, title: str) -> None:
        number = number_of(self.chain(title))
        self.press("/bin/add/", chain=number)
        self.press(f"/bin/{number}/delete/", title=title)


def chain_of(address: str) -> str:
    """Returns `/c/7/` for the address of any page of chain 7."""
    return "/".join(address.split("/")[:3]) + "/"


def number_of(address: str) -> str:
    """Returns the number that an address ends with."""
    return address.rstrip("/").rpartition("/")[2]


def run_worker() -> None:
    """Runs all queued jobs."""
    make_worker(until_idle=True).run()


@contextmanager
def every_chain_is_long() -> Iterator[None]:
    """Imports, scans, steps and purges become jobs, whatever their size."""
    limits = {
        "chainviz.chains.uploads.arrivals.BIG": 1,
        "chainviz.chains.secrets.places.AT_ONCE": 1,
        "chainviz.chains.secrets.export_scan.AT_ONCE": 1,
        "chainviz.drafts.step_jobs.MESSAGES_AT_ONCE": 1,
        "chainviz.purge.work.AT_ONCE": -1,
    }
    with ExitStack() as patches:
        for name, limit in limits.items():
            patches.enter_context(patch(name, limit))
        yield


def personal_messages() -> list[dict[str, Any]]:
    return [
        human(f"Write to {MAIL}, she pays with {CARD}."),
        ai(None, ("c1", "send", {"to": MAIL, "subject": "paid"})),
        result("c1", f"sent to {MAIL}"),
        ai("Done."),
    ]


def fill_library(person: Person) -> None:
    """The product's samples except the largest, files of every format, two files with several chains, an upload of
    several chunks, characters that databases refuse, UTF-16."""
    person.press("/samples/")
    person.delete_for_good("Why is the nightly import slow?")
    for name in FILES:
        person.upload(name.replace("/", " "), (SAMPLES / name).read_bytes())
    for name, sample in SEVERAL_CHAINS.items():
        person.fill_in(person.upload(name, (SAMPLES / sample).read_bytes()))
    part = person.chain("run.traj: history")
    person.save(person.fill_in(f"{part}edit/s1.h.m0?v=1", s1__h__m0__c0__text="Changed inside its file."))
    large = person.upload_messages("large.json", [human("chunk after chunk\n" * 40_000), ai("Long.")])
    person.save(person.fill_in(f"{large}edit/s1.p1?v=1", s1__p1__m0__c0__text="Very long.\n" * 30_000))
    odd = [human("NUL \0, half a surrogate \ud83d and a snowman ☃"), ai("line one\r\nline\ttwo \x7f"), human("1e400")]
    person.upload_messages("odd ☃.json", odd, seed=1e300)
    person.upload("sixteen.json", json.dumps(STORY).encode("utf-16"))


def make_a_version_with_every_operation(person: Person) -> None:
    """Also with a restored text and a restored version; then a branch."""
    unanswered = ai(None, ("c2", "never_answered", {"wall": "glass"}))
    broken = [human("(hurry)"), *personal_messages(), unanswered, human("Hello?")]
    messages = story(sections=4, pairs=2, size=1_500)
    messages = [*messages[:2], *broken, *messages[1:]]
    chain = person.upload_messages("workshop.json", messages, user=MAIL, temperature=0.5)
    draft = person.fill_in(f"{chain}edit/s1.h.m1?v=1", s1__h__m1__c0__text="Please look at part 1 only, für Jörg.")
    person.save(draft, "a shorter question")
    person.save(person.fill_in(f"{chain}repair/?v=2"), "repaired")
    person.save(person.fill_in(f"{chain}do/redact/?v=3", act="apply", min_bytes="100"))
    part = re.findall(r'name="part" value="([^"]+)"', person.page(f"{chain}diff/3..4/"))[0]
    person.save(person.press(f"{chain}diff/3..4/restore", part=unescape(part)).partition("?")[0], "one text restored")
    person.save(person.fill_in(f"{chain}do/mask/?v=5", act="apply"), "safe to share")
    summaries = person.fill_in(f"{chain}do/summarize/?v=6")
    run_worker()
    person.save(person.press(f"{summaries}do", act="take"), "smaller")
    person.save(person.fill_in(f"{chain}do/convert/?v=7", to="anthropic"))
    person.save(person.fill_in(f"{chain}edit/s2.h.m0?v=8", s2__h__m0__c0__text="Said after the conversion."))
    person.press(f"{chain}versions/3/restore/")
    branch = chain_of(person.press(f"{chain}versions/3/branch/"))
    person.save(person.fill_in(f"{branch}edit/s1.h.m1?v=1", s1__h__m1__c0__text="Only in the branch."))


def make_a_version_of_many_steps(person: Person) -> None:
    """So many that one of their snapshots lists all its pieces."""
    chain = person.upload_messages("long.json", [*(human(f"Line {number}") for number in range(60)), ai("Understood.")])
    base = "?v=1"
    for first in range(0, 60, 10):
        address = f"{chain}edit/s1{base}&from={first}"
        texts = [name for name in fields_of(person.page(address)) if name.startswith("s1-h-m") and name.endswith("-text")]
        draft = person.fill_in(address, **{name: f"{name} by hand" for name in texts})
        base = f"?draft={number_of(draft)}"
    person.save(draft, "line by line")


def leave_drafts(person: Person) -> None:
    """Open: two steps undone; base no longer the newest version; rebased. Closed: discarded; saved as a branch; saved
    without a step that was undone."""
    chain = person.upload_messages("undone.json", STORY)
    draft = person.fill_in(f"{chain}edit/s1.h.m1?v=1", s1__h__m1__c0__text="Which drill?")
    person.fill_in(f"{chain}repair/?draft={number_of(draft)}")
    person.fill_in(f"{chain}do/redact/?draft={number_of(draft)}", act="apply", min_bytes="1")
    person.press(f"{draft}undo")
    person.press(f"{draft}undo")

    chain = person.upload_messages("discarded.json", [*STORY, human("to be discarded")])
    person.press(f"{person.fill_in(f'{chain}do/redact/?v=1', act='apply', min_bytes='1')}discard")

    for way in ("leave", "rebase", "branch"):
        chain = person.upload_messages(f"{way}.json", [*STORY, human(f"to {way}")])
        draft = person.fill_in(f"{chain}edit/s1.h.m1?v=1", s1__h__m1__c0__text="Which drill?")
        person.press(f"{chain}versions/1/restore/")
        if way != "leave":
            person.press(f"{draft}{way}", title="A branch of a draft", note="mine")

    chain = person.upload_messages("saved.json", [*STORY, *personal_messages()])
    draft = person.fill_in(f"{chain}do/mask/?v=1", act="apply", strategy="mask")
    person.fill_in(f"{chain}do/redact/?draft={number_of(draft)}", act="apply", min_bytes="1")
    person.press(f"{draft}undo")
    person.fill_in(f"{chain}edit/s1.h.m1?draft={number_of(draft)}", s1__h__m1__c0__text="Which drill?")
    person.save(draft, "without the redaction")


def leave_summaries(person: Person) -> None:
    """Summary runs that wait to be taken over: one corrected, one without texts, one that no model answered."""
    for writer in ("extractive", "manual", "openai"):
        chain = person.upload_messages(f"{writer}.json", [*story(), human(writer)])
        run = person.fill_in(f"{chain}do/summarize/?v=1", writer=writer)
        run_worker()
        if writer == "extractive":
            first, second, *_ = sorted(set(re.findall(rf"{run}piece/\d+/", person.page(run))))
            person.press(f"{first}do", act="save", text="Part 1: the clock was wrong.")
            person.press(f"{second}do", act="decline")


def purge_and_delete(person: Person) -> None:
    """A value purged from a chain with versions, a draft and a branch; chains deleted for good; one in the bin."""
    messages = [human(f"Deploy {PURGED}"), *work(1, 900), ai(f"{PURGED} is up."), human("Thanks"), ai("Welcome.")]
    chain = person.upload_messages("purged.json", messages, project=PURGED)
    branch = chain_of(person.press(f"{chain}versions/1/branch/"))
    person.save(person.fill_in(f"{branch}edit/s1.h.m0?v=1", s1__h__m0__c0__text=f"Deploy {PURGED} twice"), PURGED)
    person.press(f"{chain}rename/", title=f"All about {PURGED}")
    person.save(person.fill_in(f"{chain}do/redact/?v=1", act="apply", min_bytes="1"), f"because of {PURGED}")
    person.fill_in(f"{chain}edit/s2.h.m0?v=2", s2__h__m0__c0__text=f"Thanks for {PURGED}")
    person.press(f"{chain}purge/", act="purge", title=f"All about {PURGED}", values=PURGED, paths="")
    branch = chain_of(person.press(f"{chain}versions/2/branch/"))
    person.fill_in(f"{branch}edit/s2.h.m0?v=1", s2__h__m0__c0__text="Written after the purge")

    chain = person.upload_messages("deleted.json", [*personal_messages(), human("for good")])
    person.save(person.fill_in(f"{chain}do/mask/?v=1", act="apply"))
    person.delete_for_good("deleted")
    person.delete_for_good("finetune: line 2")

    chain = person.upload_messages("binned.json", [*personal_messages(), human("into the bin")])
    person.save(person.fill_in(f"{chain}do/mask/?v=1", act="apply"))
    person.fill_in(f"{chain}edit/s1.h.m0?v=2", s1__h__m0__c0__text="A draft in the bin")
    person.press("/bin/add/", chain=number_of(chain))


def finish_jobs(person: Person) -> None:
    """A job of every kind done, one cancelled, one failed."""
    chain = person.upload_messages("worked.json", [*STORY, *personal_messages(), human("worked")])
    plan = person.upload_messages("secret plan.json", [human(f"Call it {PURGED} 2."), ai("Yes.")])
    with every_chain_is_long():
        person.upload_messages("worked import.json", [human("Import me.")])
        person.press("/secrets/", act="scan")
        person.press(f"{chain}v/1/export", act="scan")
        person.press(f"{chain}purge/", act="look", values="brick", paths="", title="")
        person.press(f"{chain}repair/?v=1", act="read")
        run_worker()
        save_when_done(person, person.fill_in(f"{chain}repair/?v=1"))
        save_when_done(person, person.fill_in(f"{chain}do/redact/?v=2", act="apply", min_bytes="1"))
        scan = person.press(f"{chain}do/mask/?v=3", act="scan")
        run_worker()
        form = {**fields_of(person.page(scan)), "own_patterns": ["she pays"]}
        person.client.post(scan, {**form, "act": ["look"]})
        run_worker()
        save_when_done(person, person.press(scan, **{**form, "act": ["apply"]}))
        save_when_done(person, person.fill_in(f"{chain}do/convert/?v=4", to="anthropic"))
        person.press(person.fill_in(f"{chain}do/redact/?v=5", act="apply", min_bytes="1"), act="stop")
        person.fill_in(f"{chain}do/convert/?v=5", to="langchaingo")
        person.fill_in(f"{chain}edit/s1.h.m0?v=5", s1__h__m0__c0__text="Faster than the worker.")
        run_worker()
        person.press(f"{plan}purge/", act="purge", title="secret plan", values=f"{PURGED} 2", paths="")
        run_worker()


def save_when_done(person: Person, waiting: str) -> None:
    """Saves the draft that a job makes; `waiting` is the page of the job."""
    run_worker()
    person.save(str(person.client.get(waiting)["Location"]))


def queue_jobs(person: Person) -> None:
    """A job of every kind that no worker has run."""
    chain = person.upload_messages("queued.json", [*STORY, *personal_messages(), human("queued")])
    scanned = person.upload_messages("scanned.json", [*personal_messages(), human("queued too")])
    summarized = person.upload_messages("queued summaries.json", [*story(), human("queued")])
    with every_chain_is_long():
        scan = person.press(f"{scanned}do/mask/?v=1", act="scan")
        run_worker()
        person.client.post(scan, {**fields_of(person.page(scan)), "own_patterns": ["she pays"], "act": ["look"]})
        person.fill_in(scan, act="apply")
        person.fill_in(f"{summarized}do/summarize/?v=1", writer="extractive")
        person.upload_messages("queued import.json", [human("Import me later.")])
        person.press("/secrets/", act="scan")
        person.press(f"{chain}v/1/export", act="scan")
        person.press(f"{chain}repair/?v=1", act="read")
        person.fill_in(f"{chain}repair/?v=1")
        person.fill_in(f"{chain}do/redact/?v=1", act="apply", min_bytes="1")
        person.fill_in(f"{chain}do/convert/?v=1", to="anthropic")
        person.press(f"{summarized}purge/", act="look", values="the clock", paths="", title="")
        person.press(f"{chain}purge/", act="purge", title="queued", values="hammer drill", paths="")


def leave_uploads(person: Person) -> None:
    """Files that wait for a person: one to choose its chain, one whose beginning could be kept."""
    person.upload("choose.json", (SAMPLES / "vercel_model/ok_messages.json").read_bytes())
    cut_off = SimpleUploadedFile("cut off.json", json.dumps({"messages": STORY})[:-30].encode())
    assert person.client.post("/upload/", {"file": cut_off}).status_code == 422


def main() -> None:
    call_command("migrate", verbosity=0)
    person = Person()
    fill_library(person)
    make_a_version_with_every_operation(person)
    make_a_version_of_many_steps(person)
    leave_drafts(person)
    leave_summaries(person)
    purge_and_delete(person)
    finish_jobs(person)
    queue_jobs(person)
    leave_uploads(person)
