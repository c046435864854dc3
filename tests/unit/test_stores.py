"""The stores: block files that detect damage, queues on disk, and directories that are removed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from outcrop.errors import DamagedFile, UsageError
from outcrop.store.blockfile import BlockFile, checksum
from outcrop.store.checkpoint import remove_checkpoint
from outcrop.store.frontier import RowFile
from outcrop.store.workdir import DiskBudget, DiskFull, WorkDirectory


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[WorkDirectory]:
    with WorkDirectory(tmp_path) as made:
        yield made


def random_bytes(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, count, dtype=np.uint8)


SIZES = (0, 1, 7, 8192, 8193, 100_000)


def written(directory: WorkDirectory) -> tuple[BlockFile, list[np.ndarray]]:
    file = BlockFile(directory, "blocks")
    blocks = [random_bytes(size, size) for size in SIZES]
    for number, block in enumerate(blocks):
        assert file.append(block) == number
    return file, blocks


def test_blocks_come_back_as_they_were(directory: WorkDirectory) -> None:
    file, blocks = written(directory)
    file.append(np.arange(5, dtype=np.uint64), np.arange(3, dtype=np.uint8))
    assert len(file) == len(SIZES) + 1
    for number, block in enumerate(blocks):
        assert (file.read(number) == block).all()
    assert file.read(len(SIZES)).tobytes() == np.arange(5, dtype="<u8").tobytes() + bytes(range(3))
    file.sync()
    file.close()
    again = BlockFile(directory, "blocks", reopen=True)
    assert [again.read(number).tobytes() for number in range(len(SIZES))] == [block.tobytes() for block in blocks]


def test_every_flipped_byte_is_noticed(directory: WorkDirectory) -> None:
    file, _ = written(directory)
    original = file.path.read_bytes()
    block_starts = np.cumsum([0] + [24 + size for size in SIZES])
    rng = np.random.default_rng(1)
    for at in [*range(60), *rng.integers(0, len(original), 60).tolist(), len(original) - 1]:
        content = bytearray(original)
        content[at] ^= 1 << int(rng.integers(8))
        file.path.write_bytes(content)
        number = int(np.searchsorted(block_starts, at, side="right")) - 1
        with pytest.raises(DamagedFile, match=f"blocks' is damaged: block {number} "):
            file.read(number)


def test_exchanged_pages_change_the_checksum() -> None:
    data = random_bytes(1 << 17)
    for one, other in ((0, 1), (3, 9), (1, 31)):
        pages = data.reshape(-1, 4096).copy()
        pages[[one, other]] = pages[[other, one]]
        assert checksum(pages.reshape(-1)) != checksum(data)


@pytest.mark.parametrize("reopen", [False, True])
def test_a_truncated_file_is_named(directory: WorkDirectory, reopen: bool) -> None:
    file, _ = written(directory)
    os.truncate(file.path, file.bytes - 1)
    with pytest.raises(DamagedFile, match=r"blocks' is damaged: block 5 is truncated"):
        if reopen:
            BlockFile(directory, "blocks", reopen=True)
        else:
            file.read(5)


def test_blocks_that_changed_places_are_refused(directory: WorkDirectory) -> None:
    file = BlockFile(directory, "blocks")
    for seed in (1, 2):
        file.append(random_bytes(100, seed))
    content = file.path.read_bytes()
    half = len(content) // 2
    file.path.write_bytes(content[half:] + content[:half])
    with pytest.raises(DamagedFile, match="header"):
        file.read(0)
    with pytest.raises(DamagedFile, match="header"):
        BlockFile(directory, "blocks", reopen=True)


@pytest.mark.parametrize("block_rows", [1, 3, 64])
def test_rows_in_any_portions(directory: WorkDirectory, block_rows: int) -> None:
    rng = np.random.default_rng(block_rows)
    rows = random_bytes(500 * 5, 3).reshape(-1, 5)
    queue = RowFile(directory, "rows", 5, block_rows)
    at = 0
    while at < len(rows):
        step = int(rng.integers(0, 40))
        queue.append(rows[at : at + step])
        at = min(len(rows), at + step)
        assert len(queue) == at
        begin, end = sorted(rng.integers(0, at + 1, 2).tolist())
        got = [part.tobytes() for part in queue.blocks(begin, end)]
        assert b"".join(got) == rows[begin:end].tobytes()
    assert b"".join(queue.block(number).tobytes() for number in range(queue.block_count)) == rows.tobytes()
    queue.clear()
    assert (len(queue), queue.block_count, directory.budget.used) == (0, 0, 0)


def test_rows_that_were_read_survive_those_added_later(directory: WorkDirectory) -> None:
    queue = RowFile(directory, "rows", 1, 4)
    queue.append(np.array([[1], [2]], dtype=np.uint8))
    (rows,) = queue.blocks(0, 2)
    queue.append(np.array([[3], [4], [5]], dtype=np.uint8))
    assert rows.tolist() == [[1], [2]]


def test_budget(tmp_path: Path) -> None:
    with WorkDirectory(tmp_path, DiskBudget(1000)) as directory:
        file = BlockFile(directory, "blocks")
        file.append(random_bytes(900))
        with pytest.raises(DiskFull):
            file.append(random_bytes(100))
        assert len(file) == 1
        assert (file.read(0) == random_bytes(900)).all()
        file.clear()
        file.append(random_bytes(950))
        assert directory.budget.peak == 974
        file.delete()
        assert directory.budget.used == 0


def test_a_full_disk_is_told_apart(directory: WorkDirectory) -> None:
    file = BlockFile(directory, "blocks")
    import resource
    import signal

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
        file.append(random_bytes(5_000))
        with pytest.raises(DiskFull):
            file.append(random_bytes(50_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert (file.read(0) == random_bytes(5_000)).all()
    assert directory.budget.used == file.bytes


def test_the_directory_is_private_and_goes(tmp_path: Path) -> None:
    with WorkDirectory(tmp_path / "new" / "base") as directory:
        assert directory.path.stat().st_mode & 0o777 == 0o700
        BlockFile(directory, "blocks").append(random_bytes(10))
    assert not directory.path.exists()


def test_what_a_killed_search_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    code = (
        "import os, sys; from outcrop.store.workdir import WorkDirectory\n"
        "made = WorkDirectory(sys.argv[1]); (made.path / 'data').write_text('x'); print(made.path, flush=True)\n"
        "os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=False)
    left = Path(killed.stdout.strip())
    assert left.is_dir()
    (tmp_path / "mine").mkdir()
    with WorkDirectory(tmp_path) as first, WorkDirectory(tmp_path) as second:
        assert not left.exists()
        assert first.path.exists()
        assert second.path.exists()
    assert (tmp_path / "mine").exists()


def test_a_base_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot keep files in"):
        WorkDirectory(tmp_path / "file" / "base")


def test_rows_may_be_flushed_cut_and_reopened(directory: WorkDirectory) -> None:
    rows = random_bytes(5 * 100).reshape(100, 5)
    queue = RowFile(directory, "rows", 5, 8)
    for begin, end in ((0, 3), (3, 30), (30, 31), (31, 100)):
        queue.append(rows[begin:end])
        queue.flush()
    for count in (100, 77, 31, 30, 5, 3):
        queue.cut(count)
        assert np.concatenate([*queue.blocks(0, count)]).tobytes() == rows[:count].tobytes()
        queue.append(rows[count:])
        assert np.concatenate([*queue.blocks(1, 99)]).tobytes() == rows[1:99].tobytes()
        queue.flush()
    length, digest = queue.file.bytes, queue.file.digest
    queue.append(rows)
    queue.flush()
    again = RowFile(directory, "rows", 5, 3, reopen=True, length=length)
    assert (len(again), again.file.digest) == (100, digest)
    pieces = [*again.blocks(0, 100)]
    assert np.concatenate(pieces).tobytes() == rows.tobytes()
    assert max(map(len, pieces)) <= 3
    with pytest.raises(DamagedFile, match="does not end where it should"):
        RowFile(directory, "rows", 5, 3, reopen=True, length=length - 1)
    with pytest.raises(DamagedFile, match="rows of 7 bytes"):
        RowFile(directory, "rows", 7, 3, reopen=True)


def test_a_checkpoint_that_another_rank_removes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = tmp_path / "1-of-2"
    part.mkdir()
    (part / "manifest.json").touch()
    (part / "states-0").touch()

    def gone(path: Path, pattern: str) -> Iterator[Path]:
        shutil.rmtree(path)
        raise FileNotFoundError(path)
        yield

    monkeypatch.setattr(Path, "glob", gone)
    remove_checkpoint(part, with_directory=True)
    assert list(tmp_path.iterdir()) == []
