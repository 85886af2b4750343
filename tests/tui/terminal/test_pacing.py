"""How much is written to connections of various latencies and rates."""

from collections import deque

import pytest
from textual.events import Key

from tui.terminal.input_parser import InputParser, StatusReported
from tui.terminal.pacing import FIRST_ANSWER_TIMEOUT, STALL_TIMEOUT, STATUS_QUERY, Pacer

STEP = 0.005


class SimulatedConnection:
    """A simulated connection to a terminal, with its own clock."""

    def __init__(self, latency: float, rate: float, *, answers: bool = True) -> None:
        self.latency, self.rate, self.answers = latency, rate, answers
        self.now = 100.0
        self.delays: list[float] = []
        """The age of each frame, in seconds, when all of it had arrived."""
        self.pacer = Pacer(lambda: True, sends_queries=True, clock=lambda: self.now)
        self._free_at = self.now
        self._answers: deque[float] = deque()
        self.write(len(STATUS_QUERY))

    def write(self, size: int) -> None:
        self.pacer.note_sent(size)
        self._free_at = max(self._free_at, self.now) + size / self.rate
        arrived = self._free_at + self.latency
        self.delays.append(arrived - self.now)
        if self.answers and self.pacer.query:
            self._answers.append(arrived + self.latency)

    def pass_time(self, seconds: float, frame: int | None = None) -> int:
        """Draw frames of this size as often as allowed; return their number."""
        end, count = self.now + seconds, 0
        while self.now < end:
            self.now += STEP
            while self._answers and self._answers[0] <= self.now:
                self._answers.popleft()
                self.pacer.receive()
            if frame and not self.pacer.wait():
                self.write(frame)
                count += 1
        return count


@pytest.mark.parametrize(
    ("latency", "rate"), [(0.3, 10_000), (0.3, 2_000), (0.05, 50_000), (0.1, 500_000)]
)
def test_the_connection_is_used_and_no_frame_queues_in_it(latency: float, rate: float) -> None:
    line, size = SimulatedConnection(latency, rate), 400
    line.pass_time(5 * latency + 2, size)
    del line.delays[:]
    count = line.pass_time(20, size)
    assert max(line.delays) <= latency + size / rate + 0.15
    assert count * size >= 0.9 * min(20 * rate, 20 * size / STEP)


def test_a_frame_is_limited_to_what_the_connection_takes_without_noticeable_delay() -> None:
    line = SimulatedConnection(0.3, 2_000)
    assert line.pacer.limit is None
    line.pass_time(10, 400)
    assert line.pacer.limit is not None
    assert 250 <= line.pacer.limit <= 400


def test_a_stalled_connection_gets_one_frame_and_the_next_when_it_recovers() -> None:
    line = SimulatedConnection(0.1, 20_000)
    line.pass_time(5, 400)
    rate, line.rate = line.rate, 0.001
    assert line.pass_time(STALL_TIMEOUT - 5, 400) * 400 < rate  # until the stall is noticed
    line.rate = rate
    line._free_at = line.now
    line._answers = deque([line.now] * len(line._answers))
    line.pass_time(3, 400)
    assert line.pass_time(5, 400) * 400 >= 0.9 * 5 * rate


def test_a_terminal_that_never_answers_is_not_waited_for() -> None:
    line = SimulatedConnection(0.1, 1e6, answers=False)
    assert line.pass_time(FIRST_ANSWER_TIMEOUT - 0.1, 400) == 1
    line.pass_time(0.2, 400)
    assert line.pacer.query == ""
    assert line.pass_time(1, 400) >= 0.99 / STEP
    # A late answer: from then on the terminal is queried.
    line.pacer.receive()
    assert line.pacer.query == STATUS_QUERY


def test_nothing_is_written_until_the_kernel_has_taken_the_output() -> None:
    taken = [False]
    pacer = Pacer(lambda: taken[0], sends_queries=False)
    assert pacer.wait() > 0
    taken[0] = True
    assert pacer.wait() == 0
    assert pacer.query == ""
    assert pacer.limit is None


@pytest.mark.parametrize("pieces", [["a\x1b[0nb"], ["a\x1b[", "0nb"], ["a\x1b[0", "nb"]])
def test_the_status_response_is_removed_from_the_input(pieces: list[str]) -> None:
    parser = InputParser()
    a, answer, b = [message for piece in pieces for message in parser.feed(piece)]
    assert isinstance(answer, StatusReported)
    assert isinstance(a, Key)
    assert isinstance(b, Key)
    assert a.key + b.key == "ab"
