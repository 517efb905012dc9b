"""A secret is found, and masked, in every place that a file of each format can hold one (issue 8)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

import chainviz
from chainviz.api.chain import document_of
from chainviz.cli import main
from chainviz.core.secrets import scan_chain
from tests.core.secrets.made import fake, join
from tests.core.secrets.planted import FILES, planted

NAMES = [f"{file.parent.name}/{file.name}" for file in FILES]


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_a_scan_finds_it_and_a_mask_takes_it_out(file: Path) -> None:
    document, keys = planted(file)
    chains = chainviz.load(document)
    assert [chain.format for chain in chains] == [chain.format for chain in chainviz.load(file)]
    found = {each.finding.value for chain in chains for each in scan_chain(chain.core)}
    assert [place for key, place in keys.items() if key not in found] == []
    masked = b"".join(document_of([chain.apply("mask").chain for chain in chains]))
    assert [place for key, place in keys.items() if key.encode() in masked] == []


def test_json_escapes_hide_no_secret() -> None:
    """Beside the messages and in unknown fields, also in JSON that a string holds."""
    plain = [join("gh", "p_", fake(36)) for _ in range(4)]
    hidden = ["".join(f"\\u{ord(letter):04x}" for letter in key) for key in plain]
    text = f"""{{"first": "ü {hidden[0]}", "second": "{{\\"deep\\": \\"\\{hidden[1]}\\"}}",
      "messages": [{{"role": "user", "content": "Hi", "meta": "{hidden[2]}"}}, {{"role": "assistant", "content": "Hi"}}],
      "last": ["{hidden[3]}"]}}"""
    (chain,) = chainviz.load(text.encode())
    assert {each.finding.value for each in scan_chain(chain.core)} == set(plain)
    masked = json.loads(b"".join(document_of([chain.apply("mask", strategy="replace").chain])))
    assert masked["first"] == "ü [GITHUB_TOKEN]" and masked["last"] == ["[GITHUB_TOKEN]"]
    assert masked["second"] == '{"deep": "[GITHUB_TOKEN]"}' and masked["messages"][0]["meta"] == "[GITHUB_TOKEN]"


def test_call_ids_and_names_of_tools_hold_no_secret_unseen() -> None:
    id, name = (join("gh", "p_", fake(36)) for _ in range(2))
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}
    messages = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": id, "content": "ok"}]
    (chain,) = chainviz.load(messages)
    assert {each.finding.value for each in scan_chain(chain.core)} == {id, name}
    masked = chain.apply("mask").chain
    assert masked.problems() == chain.problems(), "call and result still belong together"
    assert not any(value in masked.to_bytes().decode() for value in (id, name))


def test_a_member_whose_name_comes_again_later_leaves_too() -> None:
    key = join("gh", "p_", fake(36))
    (chain,) = chainviz.load(f'[{{"role": "user", "content": "{key}", "content": "Hi"}}]'.encode())
    assert chain.messages[0].parts[0].text == "Hi"
    assert [each.finding.value for each in scan_chain(chain.core)] == [key]
    assert key not in chain.apply("mask").chain.to_bytes().decode()


def test_a_field_is_scanned_although_a_message_says_its_value_among_other_words() -> None:
    content = {"role": "user", "content": "Log in with hunter2pass, please.", "meta": {"password": "hunter2pass"}}
    (chain,) = chainviz.load([content, {"role": "assistant", "content": "Done."}])
    assert [each.finding.value for each in scan_chain(chain.core)] == ["hunter2pass"]


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_the_command_line_tells_and_masks_it(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document, keys = planted(file)
    copy, out = tmp_path / file.name, tmp_path / "out"
    copy.write_bytes(document)
    assert main(["apply", "mask", str(copy), "--out", str(out)]) == 0
    assert capsys.readouterr().out.count("GitHub token") >= len(keys)
    assert [place for key, place in keys.items() if key in out.read_text()] == []


FILE_URL = "data:text/plain;charset=utf-8;base64,"


@pytest.mark.parametrize(
    "part",
    [
        {"type": "file", "file": {"filename": "notes.txt", "file_data": FILE_URL}},
        {"type": "image_url", "image_url": {"url": FILE_URL}},
        {"type": "text", "text": f"see [notes]({FILE_URL})"},
        {"type": "input_file", "filename": "notes.txt", "file_data": FILE_URL},
        {"type": "unheard_of", "at": {"deep": [FILE_URL]}},
    ],
    ids=lambda part: part["type"],
)
def test_a_text_file_in_a_data_url_hides_none(part: dict[str, Any]) -> None:
    first, second = (join("gh", "p_", fake(36)) for _ in range(2))
    written = json.dumps([{"role": "user", "content": [{"type": "text", "text": f"Hi {first}"}, part]}])
    encoded = base64.b64encode(f"the key is {second} ??>".encode()).decode()
    for spelled in (encoded, encoded.replace("/", "\\/"), encoded.rstrip("=")):
        chain = chainviz.load(written.replace(FILE_URL, FILE_URL + spelled).encode())[0]
        assert {each.finding.value for each in scan_chain(chain.core)} == {first, second}
        masked = chain.apply("mask", strategy="replace").chain
        after = masked.to_bytes().decode()
        assert not list(scan_chain(chainviz.load(after.encode())[0].core))
        file = base64.b64decode(after.split(FILE_URL)[1].split('"')[0].split(")")[0].replace("\\/", "/") + "==").decode()
        assert file.startswith("the key is ") and file.endswith(" ??>") and second not in file
