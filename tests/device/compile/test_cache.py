"""Trust in the cache: what another user may have written is neither loaded nor added to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.chains.plan import chain_kernel
from syclade.host.device.compile import machine_code
from syclade.host.device.compile.image import cached_images
from syclade.host.ground import cache
from syclade.host.ground.cache import cache_problem, how_often, read_cached, write_cached, write_checked
from syclade.kernels.target.sycl_traits import TRAITS
from tests.support.backends import Case

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and modes of files are POSIX's")


@pytest.fixture
def free_umask() -> Iterator[None]:
    """Let new files have all permissions, as far as the program does not care for them."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_nobody_else_may_use_the_cache_whatever_the_umask(own_cache: Path, free_umask: None) -> None:
    assert write_cached("native/a", b"content")
    assert mode_of(own_cache) == mode_of(own_cache / "native") == 0o700
    assert mode_of(own_cache / "native" / "a") == 0o600
    assert read_cached("native/a") == b"content"


@pytest.mark.parametrize("mode", [0o020, 0o002])
@pytest.mark.parametrize("where", ["", "native", "native/a"])
def test_what_others_may_have_written_is_not_read(
    where: str, mode: int, own_cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says why, once."""
    cache._warn.cache_clear()
    write_cached("native/a", b"content")
    (own_cache / where).chmod(mode_of(own_cache / where) | mode)
    assert read_cached("native/a") is None
    assert read_cached("native/a") is None
    (message,) = caplog.messages
    assert f"{own_cache / where}: other users can write to it" in message
    assert "set SYCLADE_CACHE" in message
    replaced = write_cached("native/a", b"new")
    assert replaced == (where == "native/a"), "a file is replaced, but nothing is written to such a folder"
    assert read_cached("native/a") == (b"new" if replaced else None)


def test_messages_about_time_say_that_a_cache_is_not_used(own_cache: Path) -> None:
    own_cache.mkdir(mode=0o700)
    assert cache_problem() is None
    own_cache.chmod(0o777)
    assert how_often() == (
        f"in every run, since the cache {own_cache} is not used (other users can write to it): "
        "set SYCLADE_CACHE to another folder"
    )


@pytest.mark.parametrize(
    ("owner", "mode", "reason"),
    [
        (0, 0o755, None),
        (os.geteuid(), 0o700, None),
        (os.geteuid() + 1, 0o700, f"it belongs to another user, {os.geteuid() + 1}"),
        (os.geteuid(), 0o770, "other users can write to it"),
        (0, 0o1777, "other users can write to it"),
    ],
)
def test_owners(owner: int, mode: int, reason: str | None) -> None:
    assert cache._strange(os.stat_result((mode, 0, 0, 1, owner, 0, 0, 0, 0, 0))) == reason


def test_a_planted_kernel_is_compiled_anew(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its digest fits, but another user may have written it."""
    linked: list[tuple[str, bytes]] = []

    def link(name: str, code: bytes, _: int) -> Callable[..., None]:
        linked.append((name, code))
        return lambda *_: None

    plan = Case(5, 6).plan()
    kernel = chain_kernel(plan, AncestorEncoding(plan.problem, TRAITS))
    monkeypatch.setattr(machine_code, "_compile", lambda _: ("own", b"code"))
    monkeypatch.setattr(machine_code, "_link", link)
    write_checked(machine_code._cache_name(kernel), b"planted\ncode")
    for mode in (0o700, 0o777):
        (own_cache / "native").chmod(mode)
        monkeypatch.setattr(machine_code, "_loaded", {})
        machine_code.load_machine_code(kernel)
    assert linked == [("planted", b"code"), ("own", b"code")]


def test_planted_images_are_not_loaded(own_cache: Path) -> None:
    write_cached("images/ab/card.aocx", b"image")
    assert cached_images() == [own_cache / "images" / "ab" / "card.aocx"]
    (own_cache / "images" / "ab").chmod(0o777)
    assert cached_images() == []
