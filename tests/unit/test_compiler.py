"""The choice of a compiler, and the cache of compiled models."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from conftest import Run

from outcrop.codegen import cache, compiler, processes
from outcrop.errors import CompilerNotFound, InternalError, UsageError
from outcrop.kernels import Native

TOY = (Path(__file__).parents[1] / "kernels" / "toy_model.c").read_text()
FLAGS = (*(flag for flag in compiler.FLAGS if flag != "-O2"), "-O0")


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Gives every test a separate cache directory, and forgets the compiler that was found."""
    compiler.find_compiler.cache_clear()
    compiler.cache_directory.cache_clear()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    yield tmp_path / "caches" / "outcrop"
    compiler.find_compiler.cache_clear()
    compiler.cache_directory.cache_clear()


def compile_toy(text: str = TOY) -> int:
    return compiler.compile_model(text, flags=FLAGS).state_bytes


def libraries(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.so"))


def test_compiled_once_and_kept_private(fresh: Path) -> None:
    assert compile_toy() == 7
    (library,) = libraries(fresh)
    written = library.stat().st_mtime_ns
    assert compile_toy() == 7
    assert library.stat().st_mtime_ns == written
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o700
    assert [path.name for path in fresh.iterdir()] == [library.name]


def test_another_text_or_flag_is_another_library(fresh: Path) -> None:
    compile_toy()
    compile_toy(TOY + "\n/* changed */\n")
    compiler.compile_model(TOY, flags=(*FLAGS, "-DN=4"))
    assert len(libraries(fresh)) == 3


@pytest.mark.parametrize("content", [b"", b"not a library", None])
def test_a_broken_library_is_compiled_anew(fresh: Path, content: bytes | None) -> None:
    """None: the library is cut in half. It runs in a separate process, because a loaded library must not change."""
    with ProcessPoolExecutor(1) as pool:
        pool.submit(compile_toy).result()
    (library,) = libraries(fresh)
    whole = library.read_bytes()
    library.write_bytes(whole[: len(whole) // 2] if content is None else content)
    with ProcessPoolExecutor(1) as pool:
        assert pool.submit(compile_toy).result() == 7
    assert len(library.read_bytes()) == len(whole)


def test_a_library_of_another_interface_is_refused_and_compiled_anew(fresh: Path, tmp_path: Path) -> None:
    """The library has the right name, is complete, and differs only in the hash of the headers."""
    with ProcessPoolExecutor(1) as pool:
        pool.submit(compile_toy).result()
    (library,) = libraries(fresh)
    kept = compiler.keep_source(f'{TOY}\n#define ABI_HASH 12345\n#include "kernels.c"\n', tmp_path / "kept")
    other = tmp_path / "other.so"
    subprocess.run(["cc", *FLAGS, str(kept), "-o", str(other)], check=True)
    with pytest.raises(OSError, match="another interface"):
        Native(other)
    planted = other.read_bytes()
    library.write_bytes(planted + hashlib.sha256(planted).digest())
    with ProcessPoolExecutor(1) as pool:
        assert pool.submit(compile_toy).result() == 7
    assert libraries(fresh) == [library]
    assert not library.read_bytes().startswith(planted)
    assert Native(library).state_bytes == 7


def test_several_processes_compile_the_same_model(fresh: Path) -> None:
    with ProcessPoolExecutor(4) as pool:
        assert list(pool.map(compile_toy, [TOY] * 4)) == [7] * 4
    assert len(libraries(fresh)) == 1
    assert len(list(fresh.iterdir())) == 1


def test_a_directory_open_to_others_is_closed_and_emptied(fresh: Path) -> None:
    fresh.mkdir(parents=True)
    fresh.chmod(0o777)
    (fresh / "planted.so").write_bytes(b"")
    assert compiler.cache_directory() == fresh
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o700
    assert not libraries(fresh)


def test_a_link_or_a_file_in_its_place_is_not_used(fresh: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    fresh.parent.mkdir(parents=True)
    fresh.symlink_to(tmp_path / "elsewhere")
    chosen = compiler.cache_directory()
    assert chosen != fresh
    assert stat.S_IMODE(chosen.stat().st_mode) == 0o700
    assert compile_toy() == 7
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_place_that_others_could_take_is_not_used(fresh: Path, tmp_path: Path) -> None:
    """Whoever can write to a directory above can replace the cache."""
    fresh.parent.mkdir(parents=True)
    fresh.parent.chmod(0o777)
    tmp_path.chmod(0o755)
    outside = [each for each in tmp_path.parents if not each.stat().st_mode & 0o011]
    assert cache._can_be_replaced(fresh) == (not outside)
    fresh.parent.chmod(0o1777)
    assert not cache._can_be_replaced(fresh)
    fresh.parent.chmod(0o777)
    tmp_path.chmod(0o700)
    assert not cache._can_be_replaced(fresh)


def test_a_library_that_others_can_write_is_compiled_anew(fresh: Path) -> None:
    compile_toy()
    (library,) = libraries(fresh)
    before = library.stat()
    assert not before.st_mode & 0o077
    library.chmod(0o666)
    compile_toy()
    assert libraries(fresh)[0].stat().st_ino != before.st_ino
    kept = library.rename(fresh / "kept")
    library.symlink_to(kept)
    compile_toy()
    assert not library.is_symlink()


@pytest.mark.parametrize(
    ("compiling", "message"),
    [
        ("echo 'cc1: out of memory allocating 65536 bytes' >&2; exit 1", "ran out of memory"),
        ("ulimit -v | grep -q unlimited && exit 0; echo 'virtual memory exhausted' >&2; exit 1", "ran out of memory"),
        ("kill -9 $$", "ran out of memory"),
        ("while :; do :; done", "did not finish within 1 s"),
        ("sleep 20", "did not finish within 1 s"),
        ("echo 'ld: final link failed: No space left on device' >&2; exit 1", "No space left on device. Set XDG_CACHE"),
        ("echo 'cc1: fatal error: model.s: Input/output error' >&2; exit 1", "Input/output error. Set XDG_CACHE_HOME"),
    ],
)
def test_a_compiler_that_takes_too_much(
    compiling: str, message: str, fresh: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "cc"
    script.write_text(f'#!/bin/sh\ncase "$*" in *model.c*) {compiling};; *) echo 1.0;; esac\n')
    script.chmod(0o700)
    monkeypatch.setenv("CC", str(script))
    monkeypatch.setattr(processes, "MOST_SECONDS", 1)
    with pytest.raises(UsageError, match=message):
        compile_toy()
    assert not libraries(fresh)


def test_a_compiler_out_of_time_is_not_taken_for_one_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "MOST_SECONDS", 1)
    run = subprocess.run(processes.limited(["sh", "-c", "while :; do :; done"]), check=False)
    assert run.returncode == -signal.SIGXCPU


def test_no_compiler_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(CompilerNotFound, match=r"apt install gcc.*outcrop\[zig\].*--engine interpreter"):
        compiler.find_compiler()


def test_cc_is_preferred_and_must_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", f"{sys.executable} -E")
    assert compiler.find_compiler().command == (sys.executable, "-E")
    compiler.find_compiler.cache_clear()
    monkeypatch.setenv("CC", "/no/such/compiler")
    with pytest.raises(UsageError, match="/no/such/compiler"):
        compiler.find_compiler()


def test_refused_code_is_our_bug_and_kept(fresh: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(InternalError, match=r"bug in Outcrop.*model\.c") as caught:
        compile_toy(TOY.replace("static int model_start(", "static int model_start(?"))
    (kept,) = tmp_path.glob("outcrop-failed-*/model.c")
    assert str(kept) in str(caught.value)
    assert not list(fresh.iterdir())


def test_keep_c_leaves_what_compiles_by_hand(tmp_path: Path) -> None:
    compiler.compile_model(TOY, flags=FLAGS, keep_c=str(tmp_path / "kept"))
    command = f"cd {tmp_path}/kept && cc {' '.join(FLAGS)} model.c -o model.so"
    assert os.system(command) == 0


def test_the_models_unused_for_longest_are_evicted(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_toy()
    (first,) = libraries(fresh)
    compile_toy(TOY + "\n/* second */\n")
    (second,) = set(libraries(fresh)) - {first}
    os.utime(first, (1, 1))
    os.utime(second, (2, 2))
    compile_toy()  # a use, which makes it the latest
    monkeypatch.setenv(cache.LIMIT, str(int(2.5 * first.stat().st_size)))
    compile_toy(TOY + "\n/* third */\n")
    left = libraries(fresh)
    assert first in left and second not in left and len(left) == 2
    monkeypatch.setenv(cache.LIMIT, "1K")
    compile_toy(TOY + "\n/* fourth */\n")
    assert len(libraries(fresh)) == 1, "the newest model stays, even if it is too large"
    monkeypatch.setenv(cache.LIMIT, "much")
    with pytest.raises(UsageError, match=r"OUTCROP_CACHE_LIMIT.*much"):
        cache.limit()


def test_the_command_shows_and_empties_the_cache(fresh: Path, cli: Callable[..., Run]) -> None:
    compile_toy()
    before = json.loads(cli("cache", "--json").out)
    assert (before["directory"], before["models"], before["limit_bytes"]) == (str(fresh), 1, 1 << 30)
    assert before["bytes"] == libraries(fresh)[0].stat().st_size
    assert cli("cache", "--clear").code == 0
    assert json.loads(cli("cache", "--json").out)["models"] == 0
