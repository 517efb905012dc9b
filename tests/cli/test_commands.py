"""The command line over the core: exact JSON, exit codes, files written whole, one clear line for what is wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main
from chainviz.core.formats import WRITTEN
from chainviz.core.generate import PREDEFINED
from chainviz.core.operations import OPERATIONS
from tests import ROOT
from tests.examples import share

CORE = ("show", "check", "apply", "convert", "diff", "generate")

CHAIN = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Find é"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": '{"q":1}'}},
            {"id": "call_2", "type": "function", "function": {"name": "search", "arguments": '{"q":2}'}},
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "one"},
    {"role": "assistant", "content": "Done."},
]
ANSWERED = [*CHAIN[:4], {"role": "tool", "tool_call_id": "call_2", "content": "two"}, CHAIN[4]]


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    return written(tmp_path / "broken.json", {"model": "m", "messages": CHAIN, "n": 1.50})


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    return written(tmp_path / "clean.json", {"messages": ANSWERED})


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")
    return path


def objects(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_show_prints_exactly_the_described_object(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(broken), "--json"]) == 0
    (shown,) = objects(capsys)
    problem = shown["problems"][0]
    assert shown == {
        "format": "openai_chat",
        "source": str(broken),
        "size": 9 + 7 + 2 * (6 + 8 + 6 + 7) + (6 + 3) + 5,
        "unread": [],
        "messages": 5,
        "sections": [
            {
                "path": "s1",
                "size": 84,
                "header": {"size": 16, "system": 1, "human": 1},
                "body": [
                    {
                        "path": "s1.p1", "type": "request-response", "size": 63, "valid": False, "pending": ["call_2"],
                        "unmatched": [], "completed": ["call_1"], "messages": 2,
                    },
                    {
                        "path": "s1.p2", "type": "completion", "size": 5, "valid": True, "pending": [], "unmatched": [],
                        "completed": [], "messages": 1,
                    },
                ],
            }
        ],
        "problems": [problem],
        "strict_error": problem["text"],
        "lost_on_resume": [],
    }  # fmt: skip
    assert set(problem) == {"rule", "severity", "path", "message", "part", "text", "fixes", "without_fix"}
    assert (problem["severity"], problem["path"], problem["message"], problem["part"]) == ("error", "s1.p1.m0.c1", 2, 1)


def test_show_in_words_has_a_line_for_each_row(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(broken)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"s1\.h\.m\d  Human, ", out) and "Find é" in out
    assert "s1.p1  search ×2, 63 bytes, 1 completed, 1 pending  " in out
    assert "1 structure problem\n" in out


def test_check_tells_by_its_exit_code(broken: Path, clean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(clean)]) == 0
    assert main(["check", str(broken)]) == 1
    capsys.readouterr()
    assert main(["check", str(broken), "--provider", "openai_chat", "--json"]) == 1
    (checked,) = objects(capsys)
    assert {problem["provider"] for problem in checked["problems"]} == {None, "openai-chat"}


def test_a_file_of_chains_is_many_chains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text("".join(json.dumps({"messages": chain}) + "\n" for chain in (CHAIN, ANSWERED, CHAIN)))
    assert main(["check", str(file), "--json"]) == 1
    found = objects(capsys)
    assert [bool(each["problems"]) for each in found] == [True, False, True]
    assert main(["check", str(file), "--chain", "2"]) == 0
    assert main(["check", str(file), "--chain", "4"]) == 2


def test_apply_prints_before_and_after(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--set", "action=answer", "--set", "path=s1.p1", "--set", "text=two"]
    assert main(["apply", "edit", str(broken), *words, "--json"]) == 0
    (done,) = objects(capsys)
    assert set(done) == {"before", "after", "report", "warnings"}
    assert (done["before"]["messages"], done["after"]["messages"], done["after"]["strict_error"]) == (5, 6, None)
    assert done["report"] == [
        {"path": "s1.p1", "action": "answer", "reason": "the call of search was answered", "bytes_before": 0,
         "bytes_after": 6 + 3}
    ]  # fmt: skip


def test_apply_writes_the_chain_in_its_own_file_and_leaves_the_rest(broken: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    words = ["--set", "action=text", "--set", "path=s1.p2", "--set", "text=Fertig"]
    assert main(["apply", "edit", str(broken), *words, "--out", str(out)]) == 0
    assert out.read_text("utf-8") == broken.read_text("utf-8").replace('"Done."', '"Fertig"')


def test_apply_can_write_another_format(clean: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    words = ["--set", "action=append_human", "--set", "text=More"]
    assert main(["apply", "edit", str(clean), *words, "--out", str(out), "--to", "anthropic"]) == 0
    document = json.loads(out.read_text())
    assert document["system"] == "Be brief."
    assert document["messages"][-1] == {"role": "user", "content": "More"}
    capsys.readouterr()
    assert main(["show", str(out), "--json"]) == 0
    (shown,) = objects(capsys)
    assert (shown["format"], shown["messages"], shown["strict_error"]) == ("anthropic", 7, None)


def test_a_system_text_beside_the_list_survives_a_message_before_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [{"type": "text", "text": "ok"}]}]
    file = written(tmp_path / "slot.json", {"model": "claude", "max_tokens": 9, "system": "Be kind.", "messages": messages})
    words = ["--set", "action=insert", "--set", "path=s1.h.m0", "--set", "where=before", "--set", "text=First"]
    assert main(["apply", "edit", str(file), *words, "--out", str(file)]) == 0
    assert "Be kind." in file.read_text()
    capsys.readouterr()
    assert main(["show", str(file), "--json"]) == 0
    assert objects(capsys)[0]["messages"] == 4


def test_a_refused_operation_is_exit_code_1_and_writes_nothing(broken: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    words = ["--set", "action=text", "--set", "path=s1.p1"]
    assert main(["apply", "edit", str(broken), *words, "--json", "--out", str(out)]) == 1
    captured = capsys.readouterr()
    (refused,) = [json.loads(line) for line in captured.out.splitlines()]
    assert set(refused) == {"before", "error"}
    assert captured.err.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize(
    "words",
    [
        ["apply", "edit", "FILE", "--set", "colour=red"],
        ["apply", "edit", "FILE", "--set", "action"],
        ["apply", "edit", "FILE", "--set", "action=paint"],
        ["apply", "edit", "FILE", "--set", "offset=many"],
        ["apply", "edit", "FILE", "--to", "fax", "--out", "OUT"],
        ["apply", "edit", "FILE", "--set", "action=append_human", "--json", "--out", "-"],
        ["convert", "FILE", "--to", "neutral", "--json", "--out", "-"],
        ["show", "FILE", "--format", "fax"],
        ["show", "MISSING"],
        ["show", "EMPTY"],
        ["check", "TEXT"],
        ["diff", "FILE", "MISSING"],
        ["convert", "FILE", "--to", "same", "--out", "FOLDER/none/out.json"],
    ],
    ids=" ".join,
)
def test_bad_usage_and_unreadable_input_is_one_line_and_exit_code_2(
    words: list[str], broken: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("hello")
    (tmp_path / "empty").mkdir()
    places = {
        "FILE": broken,
        "MISSING": tmp_path / "missing",
        "FOLDER": tmp_path,
        "EMPTY": tmp_path / "empty",
        "TEXT": tmp_path / "text",
        "OUT": "o",
    }
    named = [str(places.get(word, word)).replace("FOLDER", str(tmp_path)) for word in words]
    assert main(named) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("chainviz: ")
    assert captured.out == ""


@pytest.mark.parametrize("words", [[], ["paint"], ["apply", "paint", "f"], ["check", "f", "--provider", "nobody"]])
def test_unknown_words_are_bad_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2


def test_the_complete_messages_of_a_file_that_is_cut_off_can_be_taken(
    clean: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, out = clean.read_bytes(), tmp_path / "out.json"
    clean.write_bytes(whole[:-40])
    assert main(["show", str(clean)]) == 2
    assert capsys.readouterr().err.endswith("5 complete messages before it can be kept. Add --salvage to keep them.\n")
    assert main(["show", str(clean), "--salvage", "--json"]) == 0
    assert [each["messages"] for each in objects(capsys)] == [5]
    assert main(["convert", str(clean), "--salvage", "--to", "neutral", "--out", str(out)]) == 0
    assert len(json.loads(out.read_bytes())) == 5


def test_an_error_names_the_file_it_is_about(broken: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing, folder = tmp_path / "missing", tmp_path / "no" / "out"
    for words in (["diff", broken, missing], ["apply", "repair", broken, "--out", folder], ["show", broken, "--format", "fax"]):
        assert main([str(word) for word in words]) == 2
        assert str(broken) not in capsys.readouterr().err


def test_convert_to_same_writes_the_same_bytes(broken: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd.json"
    odd.write_bytes(b'\xef\xbb\xbf{ "messages" :[ {"role":"user","content":"\\u00e9 \xc3\xa9","n":1.0e3} ]\r\n}\n\n')
    lines = tmp_path / "lines.jsonl"
    lines.write_text("".join(json.dumps({"messages": chain}) + "\n" for chain in (CHAIN, ANSWERED)))
    for file in (broken, odd, lines):
        out = tmp_path / "out"
        assert main(["convert", str(file), "--to", "same", "--out", str(out)]) == 0
        assert out.read_bytes() == file.read_bytes()


def test_convert_there_and_back_keeps_the_content(clean: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there, back = tmp_path / "there.json", tmp_path / "back.json"
    assert main(["convert", str(clean), "--to", "anthropic", "--out", str(there)]) == 0
    assert main(["convert", str(there), "--to", "openai_chat", "--out", str(back)]) == 0
    capsys.readouterr()
    assert main(["show", str(clean), "--json"]) == main(["show", str(back), "--json"]) == 0
    before, after = objects(capsys)
    for key in ("messages", "strict_error", "format"):
        assert before[key] == after[key]


def test_convert_switches_to_a_provider(broken: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    assert main(["convert", str(broken), "--to", "openai_chat", "--provider", "bedrock", "--out", str(out)]) == 0
    calls = [call["id"] for message in json.loads(out.read_text())["messages"] for call in message.get("tool_calls") or ()]
    assert calls and all(id.startswith("tooluse_") for id in calls)
    assert "call id" in capsys.readouterr().err


def test_converted_chains_of_one_file_become_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "many.jsonl", tmp_path / "out.jsonl"
    file.write_text("".join(json.dumps({"messages": chain}) + "\n" for chain in (CHAIN, ANSWERED)))
    assert main(["convert", str(file), "--to", "anthropic", "--out", str(out)]) == 0
    assert len(out.read_text().splitlines()) == 2
    capsys.readouterr()
    assert main(["show", str(out), "--json"]) == 0
    assert [each["messages"] for each in objects(capsys)] == [5, 6]


@pytest.mark.parametrize("to", ["openai_chat", "anthropic", "langchaingo", "claude_code", "neutral", "raw"])
def test_what_is_told_of_a_converted_chain_is_what_its_file_holds(to: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = [{"type": "tool_response", "tool_call_id": id, "name": "search", "content": id} for id in ("a", "b")]
    calls = [{"type": "tool_call", "id": id, "name": "search", "arguments": "{}"} for id in ("a", "b")]
    chain = [
        {"role": "human", "parts": [{"type": "text", "text": "hi"}]},
        {"role": "ai", "parts": calls},
        {"role": "tool", "parts": packed},
    ]
    file, out = written(tmp_path / "packed.json", chain), tmp_path / "out"
    assert main(["convert", str(file), "--to", to, "--out", str(out), "--json"]) == 0
    assert main(["show", str(out), "--format", to, "--json"]) == 0
    told, held = objects(capsys)
    if to != "raw":  # it reads back as one text
        assert [told["after"][key] for key in ("size", "messages", "problems")] == [held[key] for key in ("size", "messages", "problems")]
        assert held["strict_error"] is None
    assert ("does not repeat its tool's name" in str(told["warnings"])) == (to in ("anthropic", "claude_code", "openai_chat"))


def test_convert_prints_its_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = {"type": "tool_call", "id": "a", "name": "search", "arguments": "{}"}
    chain = [{"role": "human", "parts": [{"type": "text", "text": "hi"}]}, {"role": "ai", "parts": [call]}]
    file = written(tmp_path / "one.json", chain)
    assert main(["convert", str(file), "--to", "openai_chat", "--provider", "mistral", "--out", str(tmp_path / "out"), "--json"]) == 0
    (told,) = objects(capsys)
    (row,) = told["report"]
    assert row["path"] == "s1.p1.m0" and "call id “a” becomes" in row["reason"] and told["warnings"]


@pytest.mark.parametrize("operation", ["repair", "convert"])
def test_what_is_told_of_a_changed_chain_is_what_its_file_holds(operation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Anthropic's results have no place for the name that a repair gives them, nor OpenAI's old calls for an id."""
    use = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "search", "input": {}}]}
    old = {"role": "assistant", "content": None, "function_call": {"name": "search", "arguments": "{}"}}
    for number, call in enumerate((use, old)):
        file = written(tmp_path / f"{number}.json", [CHAIN[1], call, CHAIN[1]])
        out = tmp_path / "out.json"
        settings = ["--set", "tool_call_id_template=x{r:9:d}"] if operation == "convert" else []
        assert main(["apply", operation, str(file), "--out", str(out), "--json", *settings]) == 0
        assert main(["show", str(out), "--json"]) == 0
        told, held = objects(capsys)
        assert (told["after"]["size"], told["after"]["sections"]) == (held["size"], held["sections"])


def test_a_format_of_one_chain_a_file_says_so_before_anything_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path / "two.json", [{"messages": CHAIN}, {"messages": ANSWERED}])
    assert main(["convert", str(file), "--to", "claude_code", "--out", str(tmp_path / "out"), "--json"]) == 2
    told = capsys.readouterr()
    assert told.out == "" and "--chain N" in told.err


def test_chains_that_become_bare_lists_on_lines_are_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = written(tmp_path / "two.json", [{"messages": CHAIN}, {"messages": ANSWERED}]), tmp_path / "out.jsonl"
    assert main(["convert", str(file), "--to", "openai_chat", "--out", str(out)]) == 0
    assert main(["show", str(out), "--json"]) == 0
    assert [each["messages"] for each in objects(capsys)] == [5, 6]


def test_diff_prints_words_or_an_object(broken: Path, clean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", str(broken), str(clean)]) == 0
    told = capsys.readouterr().out
    assert "~ s1.p1 changed, +9 bytes" in told
    assert "first difference: s1.p1 of A, s1.p1 of B" in told and "A ends: " in told and "Problems" in told
    assert main(["diff", str(broken), str(clean), "--json"]) == 0
    (found,) = objects(capsys)
    assert found["counts"] == {"changed": 1}
    assert found["after"]["size"] - found["before"]["size"] == 9
    assert found["changes"][0]["new"]["first"] == "s1.p1"
    assert found["first"] == {"old": "s1.p1", "new": "s1.p1", "change": 1} and not found["runs"]


@pytest.mark.parametrize("name", PREDEFINED)
def test_generated_chain_opens_without_a_format_or_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = []
    needed = {"openai_chat", "neutral", "langchain"} if PREDEFINED[name] else set()
    names = {format.name for format in share(WRITTEN, list(PREDEFINED).index(name), 5)}
    for target in sorted(names | needed):
        out = tmp_path / f"{target}.json"
        code = main(["generate", "--name", name, "--to", target, "--out", str(out)])
        assert code == (0 if out.exists() else 2)
        if code:
            assert f"cannot be written as {target}, since chainviz could not open the file" in capsys.readouterr().err
        else:
            written.append(target)
            assert main(["show", str(out), "--json"]) == 0
            assert len(objects(capsys)) == 1
    assert needed <= set(written)


def test_generated_chains_follow_their_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--messages", "300", "--seed", "5", "--out", str(tmp_path / "a.json")]) == 0
    assert main(["check", str(tmp_path / "a.json")]) == 0
    assert main(["generate", "--sections", "3", "--missing", "1", "--out", str(tmp_path / "b.json")]) == 0
    assert main(["check", str(tmp_path / "b.json")]) == 1


def test_a_file_is_replaced_whole_even_by_itself(clean: Path) -> None:
    words = ["--set", "action=text", "--set", "path=s1.p2", "--set", "text=x"]
    assert main(["apply", "edit", str(clean), *words, "--out", str(clean)]) == 0
    assert json.loads(clean.read_text("utf-8"))["messages"][-1]["content"] == "x"
    assert [path.name for path in clean.parent.iterdir()] == [clean.name]


def test_a_transcript_cannot_write_to_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path / "evil.json", [{"role": "user", "content": "\x1b]0;pwned\x07\u202e"}])
    assert main(["show", str(file)]) == 0
    assert main(["diff", str(file), str(file)]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_every_operation_is_listed_with_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["apply", "--help"])
    listed = capsys.readouterr().out
    for operation in OPERATIONS:
        assert re.search(rf"^    {operation.name}\s", listed, re.MULTILINE)
        with pytest.raises(SystemExit):
            main(["apply", operation.name, "--help"])
        text = capsys.readouterr().out
        for name, field in operation.Options.model_fields.items():
            assert re.search(rf"^  {name}: .+; default .+\n      .+", text, re.MULTILINE), name
            assert (field.description or "") in text


def test_a_pipe_gets_the_file_and_stays_a_pipe(tmp_path: Path) -> None:
    """So do devices: as root, a file would take the place of /dev/null for the whole machine."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        assert main(["generate", "--out", str(pipe)]) == 0
        assert json.loads(reader.read())
    assert pipe.is_fifo()


def test_what_a_link_leads_to_is_written(tmp_path: Path) -> None:
    link, file = tmp_path / "link.json", tmp_path / "file.json"
    file.write_text("old")
    link.symlink_to(file)
    assert main(["generate", "--out", str(link)]) == 0
    assert link.is_symlink()
    assert json.loads(file.read_bytes())


def python(code: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=300, **more)


def test_core_commands_import_no_django_and_no_openai(clean: Path) -> None:
    out = str(clean.with_name("out.json"))
    code = (
        "import sys; from chainviz.cli import main\n"
        f"codes = [main(['show', {str(clean)!r}]), main(['check', {str(clean)!r}]), "
        f"main(['diff', {str(clean)!r}, {str(clean)!r}]), main(['generate', '--out', {out!r}]),\n"
        f" main(['apply', 'edit', {str(clean)!r}, '--set', 'action=append_human']),\n"
        f" main(['convert', {str(clean)!r}, '--to', 'neutral', '--out', {out!r}])]\n"
        "assert codes == [0] * 6, codes\n"
        "bad = {'django', 'openai', 'sqlite3'} & set(sys.modules)\n"
        "assert not bad, bad"
    )
    done = python(code)
    assert done.returncode == 0, done.stderr


def test_the_program_reads_standard_input_and_never_traces(broken: Path) -> None:
    for given, code in ((broken.read_text("utf-8"), 0), ("{", 2), ("", 2), ("\x00" * 100, 2), ("[" * 100_000, 2)):
        done = subprocess.run(
            [sys.executable, "-m", "chainviz", "show", "-"], cwd=ROOT, input=given, capture_output=True, text=True,
            encoding="utf-8", timeout=300,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        assert done.stderr.count("\n") == (code == 2)


def test_a_terminal_that_knows_only_ascii_is_no_error(broken: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "chainviz", "show", str(broken)], cwd=ROOT, capture_output=True, timeout=300,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_convert_to_the_same_format_switches_provider_as_apply_does(broken: Path, tmp_path: Path) -> None:
    converted, applied = tmp_path / "converted.json", tmp_path / "applied.json"
    assert main(["convert", str(broken), "--to", "same", "--provider", "anthropic", "--out", str(converted)]) == 0
    switch = ["--set", "to=same", "--set", "provider=anthropic"]
    assert main(["apply", "convert", str(broken), *switch, "--out", str(applied)]) == 0
    assert converted.read_bytes() == applied.read_bytes() != broken.read_bytes()
    assert b"toolu_" in converted.read_bytes()


def test_compaction_block_of_anthropic_is_a_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = [{"type": "compaction", "content": "The depot has four docks."}, {"type": "text", "text": "Go on."}]
    messages = [{"role": "user", "content": "Docks?"}, {"role": "assistant", "content": blocks}, {"role": "user", "content": "Next?"}]
    file = tmp_path / "request.json"
    file.write_text(json.dumps({"model": "claude-opus-4-8", "max_tokens": 9, "messages": messages}))
    main(["show", str(file)])
    assert re.search(r"s1\.p1  Summary, ", capsys.readouterr().out)
