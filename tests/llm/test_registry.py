"""Every writer keeps the contract of writers; the endpoint comes from the settings alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from chainviz.core.errors import OptionsError
from chainviz.core.operations.summarize import Summary, WriterError
from chainviz.llm import WRITERS, Endpoint, Writer, offered, writer_named
from chainviz.settings import Environment
from tests.llm.asking import request
from tests.llm.fake_server import says, serving

ENDPOINT = Endpoint(base_url="http://127.0.0.1:9/v1", model="small")


def test_names_are_one_word_and_labels_differ() -> None:
    assert [writer.name for writer in WRITERS] == ["extractive", "manual", "openai"]
    assert len({writer.label for writer in WRITERS}) == len(WRITERS)


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.name)
def test_a_cancelled_writer_writes_nothing(writer: Writer) -> None:
    with pytest.raises(WriterError):
        writer_named(writer.name, ENDPOINT).write(request(), cancelled=lambda: True)


def test_a_name_nobody_has() -> None:
    with pytest.raises(OptionsError, match="extractive, manual, openai"):
        writer_named("oracle", ENDPOINT)


def test_a_model_is_offered_only_where_one_is_set_up() -> None:
    assert [writer.name for writer in offered(Endpoint())] == ["extractive", "manual"]
    assert [writer.label for writer in offered(ENDPOINT)][-1] == "model small at 127.0.0.1:9"


def test_the_endpoint_is_the_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(says("from the settings")) as server:
        monkeypatch.setenv("CHAINVIZ_LLM_BASE_URL", server.url)
        monkeypatch.setenv("CHAINVIZ_LLM_API_KEY", " key-with-line-break\n")
        monkeypatch.setenv("CHAINVIZ_LLM_MODEL", "small")
        monkeypatch.setenv("CHAINVIZ_LLM_CONCURRENCY", "2")
        monkeypatch.setenv("CHAINVIZ_LLM_SECONDS", "5")
        endpoint = Endpoint.configured(Environment())
        assert (endpoint.concurrency, endpoint.seconds) == (2, 5)
        assert writer_named("openai", endpoint).write(request()) == Summary("from the settings", None)
    assert server.seen[0].headers["authorization"] == "Bearer key-with-line-break"


def test_openai_is_not_loaded_before_somebody_asks() -> None:
    code = "import sys, chainviz.llm; sys.exit(bool({'openai', 'httpx2', 'django'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
