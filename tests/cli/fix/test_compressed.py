"""`chainviz fix` on sessions that their agent compressed."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main
from chainviz.core.documents.packed_files import zstd
from tests.cli.fix.sessions import META, json_lines, patched, words


@pytest.mark.parametrize(("compress", "decompress"), [(gzip.compress, gzip.decompress), (zstd.compress, zstd.decompress)])
def test_a_compressed_session_is_written_back_compressed(
    compress: Callable[[bytes], bytes], decompress: Callable[[bytes], bytes], tmp_path: Path, capsys: Any
) -> None:
    broken = json_lines([META, words("user", "Look"), patched("c1"), words("user", "Again")])
    plain, packed = tmp_path / "plain.jsonl", tmp_path / "rollout.jsonl.zst"
    plain.write_bytes(broken)
    packed.write_bytes(before := compress(broken))
    assert main(["fix", str(plain)]) == main(["fix", str(packed)]) == 0
    assert decompress(packed.read_bytes()) == plain.read_bytes() != broken
    (backup,) = tmp_path.glob("rollout.jsonl.zst.backup-*")
    assert backup.read_bytes() == before
    after = packed.read_bytes()
    assert main(["fix", str(packed)]) == 0 and packed.read_bytes() == after


def test_a_session_that_is_cut_off_stays_as_it_is(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "rollout.jsonl.zst"
    session.write_bytes(cut := zstd.compress(json_lines([META, words("user", "Look")]))[:-9])
    assert main(["fix", str(session)]) == 2
    assert f"{session}: The Zstandard file is cut off" in capsys.readouterr().err
    assert session.read_bytes() == cut


def test_what_a_compressed_file_becomes_is_named_after_the_file_inside(tmp_path: Path) -> None:
    session, out = tmp_path / "in" / "rollout.jsonl.zst", tmp_path / "out"
    session.parent.mkdir()
    session.write_bytes(zstd.compress(json_lines([META, words("user", "Look"), words("assistant", "Hi")])))
    assert main(["convert", str(session.parent), "--to", "openai_chat", "--out", str(out)]) == 0
    (written,) = out.iterdir()
    assert written.name == "rollout.jsonl" and b"Look" in written.read_bytes()
