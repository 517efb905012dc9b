"""The first lines of a process: text, or JSON if the log is JSON; in team mode each server says where it listens."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chainviz.accounts.models import Team
from chainviz.commands.server import serve
from chainviz.commands.server.startup import announce
from tests.accounts.conftest import team_mode  # noqa: F401

pytestmark = pytest.mark.django_db


def test_a_json_log_is_json_from_the_first_line(settings: Any, capsys: pytest.CaptureFixture[str]) -> None:
    announce("chainviz worker is ready")
    assert capsys.readouterr().out == "chainviz worker is ready\n"
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"log": "json"})
    announce("chainviz worker is ready")
    record = json.loads(capsys.readouterr().out)
    assert (record["level"], record["message"]) == ("info", "chainviz worker is ready")


def test_each_server_of_a_team_says_where_it_listens(
    team_mode: Team,  # noqa: F811
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    serve.tell_ready("http://127.0.0.1:8001/", "127.0.0.1:8001")
    assert "listening on" not in capsys.readouterr().out
    monkeypatch.setattr(serve, "CHAINVIZ", settings.CHAINVIZ)
    serve.tell_ready("https://chainviz.example.org/", "0.0.0.0:8001")
    assert "https://chainviz.example.org/, listening on 0.0.0.0:8001 " in capsys.readouterr().out
