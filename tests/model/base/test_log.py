"""The format, the limits and the masking of the log, whatever is logged."""

import logging
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from model.base.log import (
    LOGGER_QUOTA,
    MAX_FILE_BYTES,
    MAX_LINE_BYTES,
    MAX_TRACEBACK_LINES,
    LogFileHandler,
    LogFormatter,
)

BEGINNING = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ tests\.log: ")
CONTINUATION = "    | "


@pytest.fixture
def log(tmp_path: Path) -> Iterator[logging.Logger]:
    """A logger that writes to `tmp_path/log` as the server does."""
    logger = logging.Logger("tests.log")  # not from getLogger: pytest would capture its records
    handler = LogFileHandler(tmp_path / "log", bounded=True)
    handler.setFormatter(LogFormatter({"MY_API_KEY": "a planted value", "HOME": "/home/ada"}))
    logger.addHandler(handler)
    yield logger
    handler.close()


def read_lines(tmp_path: Path) -> list[str]:
    """The lines of the log, split at newlines only."""
    text = (tmp_path / "log").read_bytes().decode()
    assert text.endswith("\n")
    return text[:-1].split("\n")


FORGED = "x\n2026-01-01 00:00:00,000 ERROR forged: owned"
HOSTILE = [FORGED, "\r\n\r", "\x1b]0;t\x07", "\u2028\u2029\x85\x0b\x0c", "\u202e", "\0", "\ud800",
           "a" * 100_000, "\U0001f600" * 3000, "\n" * 5000, "%s %d %", "\x1b" * 5000]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_record_is_one_line_of_visible_characters(
    log: logging.Logger, tmp_path: Path, text: str
) -> None:
    log.warning("text: %s", text)
    log.warning(text)
    written = read_lines(tmp_path)
    assert len(written) == 2
    for line in written:
        assert BEGINNING.match(line)
        assert len(line.encode()) <= MAX_LINE_BYTES
        assert not re.search("[\0-\x1f\x7f-\x9f\u2028\u2029\u202e]", line)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_traceback_is_bounded_and_its_lines_are_indented(
    log: logging.Logger, tmp_path: Path, text: str
) -> None:
    def deeper(depth: int) -> None:
        try:
            if not depth:
                raise ValueError(text)
            deeper(depth - 1)
        except ValueError as error:
            raise KeyError(text) from error

    try:
        deeper(40)
    except KeyError:
        log.exception("it broke")
    first, *rest = read_lines(tmp_path)
    assert BEGINNING.match(first) and "it broke" in first
    assert rest[0] == f"{CONTINUATION}Traceback (most recent call last):"
    assert 5 < len(rest) <= MAX_TRACEBACK_LINES + 2
    assert all(
        line.startswith(CONTINUATION) and len(line.encode()) <= MAX_LINE_BYTES for line in rest
    )
    assert any("raise" in line for line in rest)
    assert not any(re.search("[\0-\x1f\x7f-\x9f\u2028\u202e]", line) for line in rest)


SECRETS = [
    ("Authorization: Bearer {}", "abcdEFGH1234abcdEFGH1234"),
    ("GET /ws?token={}&since=0", "abcdEFGH1234abcdEFGH1234"),
    ("{{'api_key': '{}'}}", "0123456789abcdef"),
    ("https://{}@github.com/ada/alpha", "ada:ghp_0123456789"),
    ("it said {}.", "sk-ant-api03-0123456789abcdef"),
    ("it said {}.", "ghp_0123456789abcdefghijklmnop"),
    ("password = {}", "hunter2hunter2"),
    ("{}", "a planted value"),
]


@pytest.mark.parametrize(("words", "secret"), SECRETS)
def test_secrets_are_masked(log: logging.Logger, tmp_path: Path, words: str, secret: str) -> None:
    said = words.format(secret)
    log.info("git: %s", said)
    try:
        raise OSError(said)
    except OSError:
        log.exception("it broke")
    text = "\n".join(read_lines(tmp_path))
    assert secret not in text
    assert "\u2026" in text


def test_addresses_and_paths_are_not_masked(log: logging.Logger, tmp_path: Path) -> None:
    log.info("listening at %s, for /home/ada at 0123456789abcdef", "http://127.0.0.1:3456")
    [line] = read_lines(tmp_path)
    assert line.endswith("listening at http://127.0.0.1:3456, for /home/ada at 0123456789abcdef")


def test_invalid_values_are_not_quoted(log: logging.Logger, tmp_path: Path) -> None:
    class Count(BaseModel):
        count: int

    # Joined, since the traceback quotes this line.
    said = " ".join(("what", "the", "agent", "said"))
    try:
        Count.model_validate({"count": said})
    except ValueError:
        log.exception("it broke")
    text = "\n".join(read_lines(tmp_path))
    assert said not in text
    assert "ValidationError: count: int_parsing" in text


@pytest.mark.longer
def test_a_logger_that_writes_much_does_not_displace_others(
    log: logging.Logger, tmp_path: Path
) -> None:
    other = logging.Logger("tests.log.other")
    other.addHandler(log.handlers[0])
    other.info("written before")
    for number in range(2 * MAX_FILE_BYTES // MAX_LINE_BYTES):
        log.info("%d %s", number, "x" * MAX_LINE_BYTES)
    other.info("written after")
    written = read_lines(tmp_path)
    assert "written before" in written[0] and "written after" in written[-1]
    assert LOGGER_QUOTA * 0.9 < sum(map(len, written)) < LOGGER_QUOTA * 1.1
    assert not (tmp_path / "log.1").exists()


def test_dropped_records_are_counted(
    log: logging.Logger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(LOGGER_QUOTA // MAX_LINE_BYTES + 10):
        log.info("x" * MAX_LINE_BYTES)
    later = time.monotonic() + 86400
    monkeypatch.setattr("model.base.log.time.monotonic", lambda: later)
    log.info("a day later")
    counted, last = read_lines(tmp_path)[-2:]
    assert re.search(r"\d+ records of this logger were dropped", counted)
    assert last.endswith("a day later")
