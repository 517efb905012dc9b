"""Inspect's .eval archives: their samples open as chains, the archive comes back byte for byte or with what was changed."""

from __future__ import annotations

import io
import json

import pytest

from chainviz.core.documents.assemble import whole_file
from chainviz.core.documents.packed_files import zipfile
from chainviz.core.documents.source import open_source
from chainviz.core.documents.written_file import written
from chainviz.core.errors import DocumentError
from chainviz.core.load import load_file
from tests.core.formats.chains import exported
from tests.shared_folder import SAMPLES

LOG = json.loads((SAMPLES / "inspect" / "ok_eval_log.json").read_text())
SAMPLE = json.dumps(LOG["samples"][0], indent=2).encode()
METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_ZSTANDARD]


def archive(method: int = zipfile.ZIP_DEFLATED, samples: int = 2, **others: bytes) -> bytes:
    documents = {f"samples/task_epoch_{number + 1}.json": SAMPLE for number in range(samples)}
    documents |= {"header.json": json.dumps(LOG["eval"]).encode(), "summaries.json": b"[ ]", **others}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as new:
        for name, content in documents.items():
            new.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("samples", [1, 2])
def test_each_sample_is_a_chain_and_the_archive_comes_back(method: int, samples: int) -> None:
    content = archive(method, samples)
    chains = load_file(content)
    assert [chain.format for chain in chains] == ["inspect"] * samples
    assert [exported(content, chain) for chain in chains] == [SAMPLE] * samples
    with open_source(content) as source:
        assert b"".join(written(whole_file(source.size, [], source.read), source.encoding)) == content


def test_a_changed_sample_is_written_into_a_new_archive() -> None:
    content = archive(zipfile.ZIP_ZSTANDARD)
    chain = load_file(content)[1]
    with open_source(content) as source:
        regions = [(chain.envelope.region, [SAMPLE.replace(b'"epoch": 1', b'"epoch": 7')])]
        changed = b"".join(written(whole_file(source.size, regions, source.read), source.encoding))
    new = zipfile.ZipFile(io.BytesIO(changed))
    assert new.read("samples/task_epoch_1.json") == SAMPLE
    assert json.loads(new.read("samples/task_epoch_2.json"))["epoch"] == 7
    assert new.read("summaries.json") == b"[ ]"
    assert len(load_file(changed)) == 2


def test_other_archives_are_refused() -> None:
    with pytest.raises(DocumentError, match="zip archive"):
        load_file(archive(samples=1).replace(b"header.json", b"reader.json"))
    with pytest.raises(DocumentError, match=r"“notes.txt”, which is not a JSON document"):
        load_file(archive(**{"notes.txt": b"hello"}))


@pytest.mark.parametrize("method", METHODS)
def test_a_damaged_archive_is_refused_in_a_sentence(method: int) -> None:
    content = archive(method, 1)
    for place in range(0, len(content), 29):
        damaged = content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :]
        try:
            load_file(damaged)
        except DocumentError as error:
            assert str(error).endswith(".")


def test_an_archive_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chainviz.core.documents.packed_files.MAX_UNPACKED", 1000)
    with pytest.raises(DocumentError, match="unpacks to more than"):
        load_file(archive())
