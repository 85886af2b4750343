"""The end of a long log: what is kept of it, and how much work that is."""

import asyncio
import threading
from pathlib import Path

import pytest

from model.hosting.github.check_logs import StepSelector
from model.hosting.log_end import MAX_CHARACTERS, MAX_LINE, MAX_LINES, LogEnd
from model.hosting.program import HostingProgram

SECOND = "2026-01-01T00:00:{:02}.1234567Z {}\n"


def read(log: bytes, *, piece: int = 1000, end: LogEnd | None = None) -> tuple[list[str], int]:
    end = end or LogEnd(str)
    for start in range(0, len(log), piece):
        end.take(log[start : start + piece])
    text, left_out = end.finish()
    return text.split("\n"), left_out


@pytest.mark.parametrize("piece", [1, 7, 100_000])
def test_the_last_lines_are_kept_whatever_the_pieces(piece: int) -> None:
    lines = [f"{number} of the lines" for number in range(1000)]
    log = "".join(f"{line}\n" for line in lines).encode()
    assert read(log, piece=piece) == (lines[-MAX_LINES:], 1000 - MAX_LINES)
    assert read(log[:-1], piece=piece) == (lines[-MAX_LINES:], 1000 - MAX_LINES)


@pytest.mark.parametrize("piece", [1, 1999, 100_000])
def test_each_long_line_is_shortened_and_none_is_lost(piece: int) -> None:
    long = b"x" * (3 * MAX_LINE)
    log = b"first\n" + long + b"\n" + long + b"\nlast"
    assert read(log, piece=piece) == (["first", "x" * MAX_LINE, "x" * MAX_LINE, "last"], 0)


def test_the_text_is_bounded_and_what_is_left_out_counted() -> None:
    shown, left_out = read(b"".join(b"%-1999d\n" % n + b"y" * 1999 + b"\n" for n in range(1000)))
    assert sum(len(line) + 1 for line in shown) <= MAX_CHARACTERS
    assert left_out + len(shown) == 2000


def test_few_lines_of_a_log_are_looked_at_one_by_one() -> None:
    looked_at: list[str] = []

    def note(line: str) -> str:
        looked_at.append(line)
        return line

    shown, left_out = read(b"\n" * 2_000_000, piece=65_536, end=LogEnd(note))
    assert (len(shown), left_out) == (MAX_LINES, 2_000_000 - MAX_LINES)
    assert len(looked_at) == MAX_LINES + 1


@pytest.mark.parametrize("piece", [1, 50, 100_000])
def test_lines_of_the_steps_that_failed_come_first(piece: int) -> None:
    log = "\ufeffno time\n" + "".join(
        SECOND.format(second, f"in {second}") + f"below {second}\n" for second in (1, 5, 3, 6, 9)
    )
    selector = StepSelector([("2026-01-01T00:00:03", "2026-01-01T00:00:05")])
    shown, left_out = read(log.encode(), piece=piece, end=LogEnd(str.strip, selector.select))
    assert [line.rpartition("Z ")[2] for line in shown] == ["in 5", "below 5", "in 3", "below 3"]
    assert left_out == 0
    other = StepSelector([("2027-01-01T00:00:00", "9")])
    shown, _ = read(log.encode(), piece=piece, end=LogEnd(str.strip, other.select))
    assert (shown[0], len(shown)) == ("no time", 11)


async def test_a_log_is_read_off_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "forge").write_text("#!/bin/sh\nexec seq 100000\n")
    (tmp_path / "forge").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    end, threads = LogEnd(str), set()

    def take(piece: bytes) -> None:
        threads.add(threading.current_thread())
        end.take(piece)

    await HostingProgram("forge", "", "", {}).run(tmp_path, (), take=take)
    assert threading.current_thread() not in threads
    text, left_out = await asyncio.to_thread(end.finish)
    assert (text.split("\n")[-1], left_out) == ("100000", 100_000 - MAX_LINES)
