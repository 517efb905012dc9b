"""`apply repair --set preset=pentagi --json` and `show --json` against what the reference was observed to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main
from tests.core.cases import cases

FORCED = [pytest.param(request, expected, id=name) for name, request, expected in cases("ast", "reparse") if request["messages"]]


def outline(section: dict[str, Any]) -> dict[str, Any]:
    """A section of an expected tree in the words of the command line."""
    header = section["header"]
    return {
        "size": section["size"],
        "header": {"size": header["size"], "system": int(bool(header["system"])), "human": int(bool(header["human"]))},
        "body": [
            {
                **{key: pair[key] for key in ("type", "size", "valid")},
                **{key: sorted(pair[key]) for key in ("pending", "unmatched", "completed")},
                "messages": 1 + len(pair["tools"]),
            }
            for pair in section["body"]
        ],
    }


def without_paths(section: dict[str, Any]) -> dict[str, Any]:
    body = [{key: value for key, value in pair.items() if key != "path"} for pair in section["body"]]
    return {"size": section["size"], "header": section["header"], "body": body}


@pytest.mark.parametrize(("request_", "expected"), FORCED)
def test_repair_as_the_reference_does_it(
    request_: dict[str, Any], expected: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "case.json"
    file.write_text(json.dumps(request_["messages"]), "utf-8")
    words = ["--format", "neutral", "--set", "preset=pentagi", "--json"]
    code = main(["apply", "repair", str(file), *words])
    (done,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    if not request_["force"]:
        # strict parsing: our verdict on the chain as it is
        assert bool(done["before"]["strict_error"]) == bool(expected["error"])
    elif expected["error"]:
        assert (code, done["error"]) == (1, expected["error"])
    else:
        assert code == 0
        assert [without_paths(section) for section in done["after"]["sections"]] == [
            outline(section) for section in expected["tree"]["sections"]
        ]
        assert done["after"]["size"] == expected["tree"]["size"]
