"""A picture is what its first bytes say, never what the transcript calls it."""

from __future__ import annotations

import base64

import pytest

from chainviz.chains.render.parts import host_of, picture
from chainviz.core.chain.messages import Binary, Image

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x0a\x00\x00\x00\x14\x08\x06\x00\x00\x00"
GIF = b"GIF89a\x03\x00\x04\x00\x00\x00\x00"
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x00\x07\x00\x09\x03\x01\x22\x00\x02\x11"
WEBP = b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x05\x00\x00"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"


def data_url(content: bytes, mime: str = "image/png") -> str:
    return f"data:{mime};base64,{base64.b64encode(content).decode()}"


@pytest.mark.parametrize(
    ("content", "mime", "size"),
    [(PNG, "image/png", (10, 20)), (GIF, "image/gif", (3, 4)), (JPEG, "image/jpeg", (9, 7)), (WEBP, "image/webp", (5, 6))],
)
def test_pictures_are_known_by_their_bytes(content: bytes, mime: str, size: tuple[int, int]) -> None:
    for part in (Image(data_url(content, "image/svg+xml")), Binary("text/html", content)):
        found = picture(part)
        assert found is not None
        assert (found.mime, (found.width, found.height)) == (mime, size)


@pytest.mark.parametrize("content", [SVG, b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF0000WEBP", b"<html>"])
def test_anything_else_is_none(content: bytes) -> None:
    assert picture(Image(data_url(content))) is None
    assert picture(Binary("image/png", content)) is None


def test_addresses_are_never_pictures() -> None:
    assert picture(Image("https://example.com/a.png")) is None
    assert host_of("https://example.com:8/a.png") == "example.com"
    assert host_of("javascript:alert(1)") == ""
    assert host_of("http://[bad") == ""
