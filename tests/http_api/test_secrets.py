"""Everything that programs send is searched for secrets and purged: content, names, notes, comments, options."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from chainviz.accounts.models import Membership, Team
from chainviz.accounts.permissions import Role
from chainviz.chains.models import Chain
from chainviz.chains.secrets.scans import start_library_scan
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_job
from chainviz.purge.jobs import start_purge
from tests.chains.making import STORY, human
from tests.http_api.test_calls import Program, program  # noqa: F401
from tests.purge.canaries import stored

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]
KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


def test_what_a_program_sends_is_searched_and_purged(program: Callable[..., Program], team_mode: Team) -> None:  # noqa: F811
    editor = program()
    file = json.dumps({"messages": [*STORY, human(f"Use {KEY}")]}).encode()
    at = f"/chains/{editor.upload(file, f'?name={KEY}.json').json()['chains'][0]['id']}"
    options = {"path": "s1.h.m0", "action": "text", "text": f"Rather {KEY}"}
    draft = editor.send(f"{at}/operations/edit", {"options": options, "note": f"so that {KEY}"}).json()["id"]
    assert editor.send(f"{at}/drafts/{draft}/save", {"note": f"because of {KEY}"}).status_code == 200
    assert editor.send(f"{at}/versions/2/threads", {"text": f"The key is {KEY}"}).status_code == 201
    assert editor.send(f"{at}/threads/1/replies", {"text": f"{KEY}?"}).status_code == 201

    Chain.objects.update(title=KEY, titled_by=Chain.TitledBy.PERSON)
    job = start_library_scan(Membership.objects.get(role=Role.EDITOR))
    run_job(job.pk)
    found = {place: counts["github-token"] for _, place, counts in Job.objects.get(pk=job.pk).result}
    assert found == {2: 2, "names": 3, "written": 2}

    purged = start_purge(Chain.objects.get(), KEY, "", (), by=Membership.objects.get(role=Role.EDITOR).user)
    assert (purged.state, purged.result["again"]) == ("done", 0)
    assert KEY.encode() not in stored()
    for page in ("", "/versions", "/versions/2/tree", "/threads"):
        assert KEY not in editor.get(at + page).content.decode(), page
    assert KEY.encode() not in b"".join(editor.get(f"{at}/versions/1/export", scope="file").streaming_content)
