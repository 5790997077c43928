"""Damage to files: bits, bytes, lines, and pieces that are lost, doubled, exchanged or inserted."""

from __future__ import annotations

from random import Random

__all__ = ["damaged", "soup"]

_FOREIGN = (
    b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"\r", b"\r\n", b"\n\n", b"\x0c", b"\x85", b"\xc2\xa0",
    b"\xe2\x80\xa8", b"\xed\xa0\x80", b"\xff", b"\x1b[31m",
    b"{", b"}", b"[", b"]", b"(", b")", b'"', b"'", b"\\", b";", b",", b":",
    b"->", b"--", b"//", b"/*", b"*/", b"#", b"-1", b"2", b"3.0", b"1e999", b"NaN", b"null", b"9" * 5000,
)  # fmt: skip


def damaged(good: bytes, draw: Random, most: int = 4) -> bytes:
    """Return the file with up to `most` damages, sometimes with none."""
    data = bytearray(good)
    for _ in range(draw.randint(0, most)):
        _DAMAGES[draw.randrange(len(_DAMAGES))](data, draw)
    return bytes(data)


def soup(pieces: tuple[bytes, ...], draw: Random, most: int = 40) -> bytes:
    """Return pieces of a language in random order."""
    return b"".join(draw.choices(pieces, k=draw.randint(0, most)))


def _piece(data: bytearray, draw: Random) -> slice:
    """Return a slice somewhere in the file, mostly a short one."""
    start = draw.randint(0, len(data))
    return slice(start, start + int(draw.paretovariate(0.7)))


def _flip(data: bytearray, draw: Random) -> None:
    if data:
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def _overwrite(data: bytearray, draw: Random) -> None:
    if data:
        data[draw.randrange(len(data))] = draw.randrange(256)


def _lose(data: bytearray, draw: Random) -> None:
    del data[_piece(data, draw)]


def _double(data: bytearray, draw: Random) -> None:
    piece = data[_piece(data, draw)]
    place = draw.randint(0, len(data))
    data[place:place] = piece


def _repeat(data: bytearray, draw: Random) -> None:
    where = _piece(data, draw)
    piece = data[where][:100]
    data[where] = piece * draw.choice((2, 3, 50, 2000))


def _cut(data: bytearray, draw: Random) -> None:
    del data[draw.randint(0, len(data)) :]


def _insert(data: bytearray, draw: Random) -> None:
    place = draw.randint(0, len(data))
    data[place:place] = draw.choice(_FOREIGN)


def _exchange_lines(data: bytearray, draw: Random) -> None:
    lines = bytes(data).splitlines(keepends=True)
    if len(lines) > 1:
        one, other = draw.sample(range(len(lines)), 2)
        lines[one], lines[other] = lines[other], lines[one]
        data[:] = b"".join(lines)


_DAMAGES = (_flip, _overwrite, _lose, _double, _repeat, _cut, _insert, _insert, _exchange_lines)
