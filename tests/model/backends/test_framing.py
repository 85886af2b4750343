"""Splitting chunks of bytes into lines."""

from hypothesis import given
from hypothesis import strategies as st

from model.backends.framing import LineSplitter, OversizedLine


def split(chunks: list[bytes], limit: int = 100) -> list[bytes | OversizedLine]:
    splitter = LineSplitter(limit)
    return [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.flush()


@given(st.lists(st.binary(max_size=20)))
def test_where_chunks_end_does_not_matter(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    lines = whole.split(b"\n")
    assert split(chunks, 10_000) == (lines if lines[-1] else lines[:-1])


def test_a_line_over_the_limit_is_counted_and_the_next_ones_are_whole() -> None:
    assert split([b"a\n" + b"x" * 60, b"x" * 60, b"x" * 10 + b"\nb\n", b"c"]) == [
        b"a",
        OversizedLine(130),
        b"b",
        b"c",
    ]


def test_a_line_over_the_limit_inside_one_chunk_is_counted_too() -> None:
    assert split([b"a\n" + b"x" * 101 + b"\nb\n"]) == [b"a", OversizedLine(101), b"b"]


def test_an_unfinished_line_over_the_limit_is_not_kept_in_memory() -> None:
    splitter = LineSplitter(limit=1000)
    for _ in range(10_000):
        splitter.feed(b"x" * 1000)
    assert sum(map(len, splitter._pieces)) <= 1000
    assert splitter.flush() == [OversizedLine(10_000_000)]
