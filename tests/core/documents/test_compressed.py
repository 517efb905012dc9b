"""Files compressed with gzip or Zstandard open as the file inside them, within a limit."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from chainviz.core.documents.assemble import whole_file
from chainviz.core.documents.packed_files import beginning, plain_name, zstd
from chainviz.core.documents.source import open_source
from chainviz.core.documents.written_file import written
from chainviz.core.errors import DocumentError
from chainviz.core.load import load_file

CHAT = b'[{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."}]\n'
SKIPPED = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
"""A skippable frame of Zstandard, as pzstd writes first."""
CHECKED = {zstd.CompressionParameter.checksum_flag: 1}
Compress = Callable[[bytes], bytes]
both = pytest.mark.parametrize("compress", [gzip.compress, zstd.compress], ids=["gzip", "zstd"])


def refused(content: bytes, most: int = 10_000) -> str:
    with pytest.raises(DocumentError) as error:
        open_source(content, most).close()
    return str(error.value)


@both
@pytest.mark.parametrize("inside", [CHAT, CHAT.decode().encode("utf-16"), b"log: " + CHAT], ids=["JSON", "UTF-16", "log"])
def test_the_file_inside_is_read_and_exported(compress: Compress, inside: bytes) -> None:
    (plain,), (chain,) = load_file(inside), load_file(compress(inside))
    assert chain.messages == plain.messages and chain.format == plain.format
    assert chain.warnings[0].startswith("The file was compressed with ") and chain.warnings[0].endswith(" ".join(plain.warnings))
    with open_source(compress(inside)) as source, open_source(inside) as other:
        assert source.sha256 == other.sha256 and source.original_size == len(inside)
        assert b"".join(written(whole_file(source.size, [], source.read), source.encoding)) == inside


@both
def test_frames_are_read_one_after_another(compress: Compress) -> None:
    frames = compress(CHAT[:20]) + compress(b"") + compress(CHAT[20:])
    assert load_file(frames)[0].messages == load_file(CHAT)[0].messages


def test_a_skippable_frame_may_come_first() -> None:
    assert len(load_file(SKIPPED + zstd.compress(CHAT))[0].messages) == 2


@both
def test_an_empty_file_inside_is_refused(compress: Compress) -> None:
    with pytest.raises(DocumentError, match="empty"):
        load_file(compress(b""))


@both
def test_a_file_that_is_cut_off_is_refused_wherever_it_ends(compress: Compress) -> None:
    whole = compress(CHAT)
    for end in range(4, len(whole)):
        assert "is cut off" in refused(whole[:end])
    assert "is cut off" in refused(whole + whole[:-3])


@pytest.mark.parametrize(
    "content",
    [gzip.compress(CHAT)[:-8] + b"\0\0\0\0" + gzip.compress(CHAT)[-4:], zstd.compress(CHAT, options=CHECKED)[:-4] + b"\0\0\0\0"],
    ids=["gzip", "zstd"],
)
def test_a_wrong_checksum_is_refused(content: bytes) -> None:
    assert "cannot be decompressed (" in refused(content)


@both
def test_damage_is_refused_in_a_sentence_or_read(compress: Compress) -> None:
    whole = compress(CHAT)
    for place in range(4, len(whole)):
        try:
            load_file(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        except DocumentError as error:
            assert str(error).endswith(".")


@both
def test_a_bomb_is_refused_before_the_limit_is_passed(compress: Compress) -> None:
    bomb = compress(b"x" * 20_000_000)
    assert len(bomb) < 20_000
    assert "decompresses to more than 3 MB" in refused(bomb, 3_000_000)
    many = b"".join(compress(b"x" * 1_000_000) for _ in range(4))
    assert "decompresses to more than 3 MB" in refused(many, 3_000_000)
    open_source(compress(CHAT), len(CHAT)).close()
    assert "decompresses to more than" in refused(compress(CHAT), len(CHAT) - 1)


@both
def test_archives_inside_are_refused(compress: Compress) -> None:
    assert "archive, not a transcript; unpack it" in refused(compress(zstd.compress(CHAT)))
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as new:
        member = tarfile.TarInfo("chat.json")
        member.size = len(CHAT)
        new.addfile(member, io.BytesIO(CHAT))
    assert "a tar archive" in refused(compress(archive.getvalue()), 100_000)


@both
def test_the_beginning_is_decompressed_as_far_as_it_is_whole(compress: Compress, tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    for content in (CHAT, compress(CHAT), compress(CHAT[:20]) + compress(CHAT[20:])):
        path.write_bytes(content)
        assert beginning(path, 5) == CHAT[:5] and beginning(path, 1000) == CHAT
    path.write_bytes(compress(b" " * 1_000_000)[:-20])
    assert not beginning(path, 1000).strip()


def test_names_lose_the_ending_of_the_compression() -> None:
    names = ["a.jsonl.zst", "a.json.GZ", "a.zstd", "a.jsonl", ".gz", "b/.zst"]
    assert [plain_name(name) for name in names] == ["a.jsonl", "a.json", "a", "a.jsonl", ".gz", "b/.zst"]
