"""Heights and their sums, against plain lists."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tui.transcript.heights import Heights

SOME = st.lists(st.integers(0, 50), max_size=60)


def check(heights: Heights, plain: list[int]) -> None:
    assert len(heights) == len(plain)
    assert heights.total == sum(plain)
    for index, height in enumerate(plain):
        assert heights[index] == height
        assert heights.top(index) == sum(plain[:index])
    rows = [index for index, height in enumerate(plain) for _ in range(height)]
    assert [heights.find(row) for row in range(len(rows))] == rows


@settings(deadline=None)
@given(SOME)
def test_rows_are_found_as_if_counted(plain: list[int]) -> None:
    check(Heights(plain), plain)


@settings(deadline=None)
@given(SOME, st.lists(st.tuples(st.sampled_from("as"), st.integers(0, 99)), max_size=40))
def test_heights_may_come_and_change(plain: list[int], changes: list[tuple[str, int]]) -> None:
    heights, plain = Heights(plain), list(plain)
    for what, number in changes:
        if what == "a":
            heights.append(number)
            plain.append(number)
        elif plain:
            heights[number % len(plain)] = number
            plain[number % len(plain)] = number
    check(heights, plain)


def test_rows_past_the_end_belong_to_the_last() -> None:
    assert Heights([3, 2]).find(99) == 1
