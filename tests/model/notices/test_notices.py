"""What is worth a word, and when: never twice, never in a flood, never about what is looked at."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.domain.events.notices import NoticesSent
from model.domain.events.program import TaskCompleted
from model.domain.events.sessions import SessionCreated
from model.domain.events.worktrees import WorktreeDeleted, WorktreeStatusUpdated, WorktreeUpdated
from model.notices.dispatcher import BURST
from model.notices.outgoing import DeliveryError
from model.notices.quiet_hours import parse_quiet_hours
from model.notices.reasons import find_session_causes
from tests.model.notices.night import NOON, WORKTREE, Night
from tests.nightly import examples


@pytest.fixture
async def night(tmp_path: Path) -> AsyncIterator[Night]:
    made = await Night(tmp_path / "spinney.db").open()
    for name in ("login", "parser", "docs"):
        await made.add_session(name)
    yield made
    await made.close()


async def test_each_reason_is_sent_once_and_withdrawn_when_it_is_gone(night: Night) -> None:
    for kind, said in (
        ("permission", "login asks for permission"),
        ("question", "login asks a question"),
        ("plan", "login has a plan"),
    ):
        await night.ask("login", kind, kind)  # type: ignore[arg-type]
        assert night.channel.titles == [said]
        await night.advance(5)
        assert list(night.standing) == [f"{kind}.login"]
        await night.work("login")
        assert not night.standing and night.channel.withdrawn == [f"{kind}.login"]
        night.channel.sent.clear()
        night.channel.withdrawn.clear()
    await night.end("login")
    await night.read("login")
    await night.work("login")
    await night.end("login", status="failed", error="It broke.")
    await night.work("login")
    await night.pause("login", "network")
    await night.pause("login", "usage_limit")
    await night.work("login")
    await night.pause("login", "usage_limit", attempts=2)
    await night.pause("login", "budget", attempts=2)
    assert night.channel.titles == [
        "login has finished", "login has failed", "login has reached a usage limit",
        "login has used up a budget",
    ]  # fmt: skip
    assert list(night.standing) == ["limit.login"]


async def test_a_limit_is_announced_once_and_not_for_the_sessions_that_wait_for_it_too(
    night: Night,
) -> None:
    await night.pause("login", "usage_limit")
    for name in ("parser", "docs"):
        await night.pause(name, "usage_limit", is_joined=True)
    assert night.channel.titles == ["login has reached a usage limit"]
    await night.work("login")
    await night.advance(5)
    assert not night.standing and night.channel.withdrawn == ["limit.login"]
    assert len(night.channel.sent) == 1


async def test_a_stopped_or_interrupted_turn_is_no_news(night: Night) -> None:
    for status in ("cancelled", "interrupted"):
        await night.work("login")
        await night.end("login", status=status)
    assert not night.channel.sent and not night.standing


async def test_another_request_is_another_notice(night: Night) -> None:
    await night.ask("login", "question", "first")
    await night.ask("login", "question", "second")
    assert night.channel.titles == ["login asks a question"] * 2
    assert [each.request_id for each in night.standing.values()] == ["second"]


async def test_red_checks_are_sent_unless_a_session_deals_with_them(night: Night) -> None:
    linked = WORKTREE.model_copy(update={"pr_number": 7, "cached_pr_status": "open"})
    night.store.record(WorktreeUpdated(worktree=linked))

    async def report(status: str) -> None:
        night.store.record(
            WorktreeStatusUpdated(
                worktree_id="w", cached_pr_status="open", cached_check_status=status
            )
        )
        await night.settle()

    night.change("login", pull_request_loop={"limit": 3})
    await report("failure")
    assert not night.standing
    night.change("login", pull_request_loop={"limit": 3, "used": 3, "waits": True})
    await night.settle()
    assert night.channel.titles == ["Checks of calm-otter have failed"]
    await report("success")
    assert not night.standing


async def test_a_review_stands_until_it_is_dismissed_and_goes_with_its_worktree(
    night: Night,
) -> None:
    review = TaskCompleted(task="review", ok=True, detail="2 findings", worktree_id="w")
    check = TaskCompleted(task="check", ok=False, detail="make failed", worktree_id="w")
    night.store.record(review, check)
    await night.restart()
    assert set(night.standing) == {"review.w", "check_failed.w"}
    night.store.record(check.model_copy(update={"ok": True}))
    await night.settle()
    night.notices.dismiss("review.w")
    assert not night.standing
    night.store.record(review)
    await night.settle()
    night.store.record(WorktreeDeleted(worktree_id="w", project_id="p"))
    await night.settle()
    assert not night.standing


async def test_nothing_is_said_about_what_a_client_shows_until_it_looks_elsewhere(
    night: Night,
) -> None:
    await night.look_at("login")
    await night.ask("login", "question", "r1")
    await night.ask("parser", "question", "r2")
    assert night.channel.titles == ["parser asks a question"]
    await night.advance(3600)  # the reminder of what is looked at waits
    assert night.channel.titles[1:] == ["Still waiting: parser asks a question"]
    night.notices.focus.drop("phone")
    await night.settle()
    assert night.channel.titles[2:] == ["Still waiting: login asks a question"]


async def test_a_waiting_session_is_mentioned_again_once(night: Night) -> None:
    await night.ask("login", "plan", "r1")
    await night.end("parser")
    await night.advance(599)
    assert len(night.channel.sent) == 2
    for _ in range(5):
        await night.advance(600)
    assert night.channel.titles[2:] == ["Still waiting: login has a plan"]


async def test_the_reminder_follows_its_preference(night: Night) -> None:
    await night.ask("login", "plan", "r1")
    await night.set_preferences(notify_reminder_minutes=1)
    await night.advance(60)
    assert night.channel.titles[1:] == ["Still waiting: login has a plan"]
    await night.set_preferences(notify_reminder_minutes=0)
    await night.ask("parser", "plan", "r2")
    await night.advance(86400)
    assert len(night.channel.sent) == 3


async def test_quiet_hours_end_with_one_summary_of_what_still_stands(night: Night) -> None:
    await night.set_preferences(notify_quiet_hours=quiet_around(NOON))
    for name in ("login", "parser", "docs"):
        await night.ask(name, "question", name)
    await night.work("docs")
    assert not night.channel.sent
    await night.advance(4 * 3600)
    assert [sorted(key for key, *_ in sent.ids) for sent in night.channel.sent] == [
        ["question.login", "question.parser"]
    ]
    assert night.channel.titles == ["2 notices while you were away"]


def quiet_around(now: float) -> str:
    """Quiet hours of two hours around a time, in local time."""
    from datetime import datetime

    hour = datetime.fromtimestamp(now).hour
    return f"{(hour - 1) % 24:02}:00-{(hour + 1) % 24:02}:00"


async def test_many_at_once_are_a_summary_with_names(night: Night) -> None:
    for number in range(12):
        await night.add_session(f"s{number}")
    for number in range(12):
        name = f"s{number}"
        night.change(name, status="failed", unread=True, last_run={"status": "failed"})
    await night.settle()
    [sent] = night.channel.sent
    assert len(sent.ids) == 12 and "12 have failed" in sent.message.text


async def test_after_a_restart_nothing_is_repeated_and_what_was_missed_is_only_listed(
    night: Night,
) -> None:
    await night.ask("login", "question", "r1")
    await night.close()
    night.notices.watcher.update = never  # type: ignore[method-assign]
    await night.open()
    night.change("parser", unread=True, status="idle", last_run={"status": "completed"})
    await night.store.close()  # killed before anyone received it
    await night.open()
    assert set(night.standing) == {"question.login", "finished.parser"}
    assert night.channel.titles == ["login asks a question"]
    await night.advance(600)
    assert night.channel.titles[1:] == ["Still waiting: login asks a question"]
    await night.restart()
    await night.advance(6000)
    assert len(night.channel.sent) == 2


async def never(*_: Any, **__: Any) -> None:
    """Do nothing."""


async def test_what_could_not_be_sent_is_tried_again_also_after_a_restart(night: Night) -> None:
    night.channel.error = DeliveryError("the host cannot be reached")
    await night.ask("login", "question", "r1")
    for seconds in (1, 2, 4):
        await night.advance(seconds)
    assert night.channel.tries == 4
    assert night.problems == ["A notice could not be sent by ntfy: the host cannot be reached."]
    assert night.standing["question.login"].sent.keys() == {"terminal", "page"}
    await night.restart()
    night.channel.error = None
    await night.advance(300)
    assert night.channel.titles == ["login asks a question"]
    await night.ask("parser", "question", "r2")
    assert len(night.channel.sent) == 2


async def test_a_refusal_is_not_tried_again_and_reported_once(night: Night) -> None:
    night.channel.error = DeliveryError("the token is wrong", retry=False)
    for name in ("login", "parser"):
        await night.ask(name, "question", name)
        await night.advance(60)
    assert night.channel.tries == 2
    assert night.problems == ["A notice could not be sent by ntfy: the token is wrong."]
    [status] = [each for each in night.notices.list_channels() if each.name == "ntfy"]
    assert status.problem == "the token is wrong"
    assert night.notices.list_problems() == night.problems
    night.channel.error = None
    await night.ask("docs", "question", "docs")
    [status] = [each for each in night.notices.list_channels() if each.name == "ntfy"]
    assert status.problem is None


async def test_a_service_that_asks_for_patience_gets_it_and_after_an_hour_it_is_given_up(
    night: Night,
) -> None:
    night.channel.error = DeliveryError("too many", retry_after=900)
    await night.ask("login", "question", "r1")
    await night.advance(899)
    assert night.channel.tries == 1
    await night.advance(1)
    assert night.channel.tries == 2
    for _ in range(40):
        await night.advance(900)
    assert night.channel.tries < 12


async def test_after_a_sleep_everything_due_comes_as_one_summary(night: Night) -> None:
    for name in ("login", "parser", "docs"):
        await night.ask(name, "question", name)
    night.channel.sent.clear()
    await night.advance(8 * 3600, asleep=True)
    [sent] = night.channel.sent
    assert len(sent.ids) == 3 and sent.message.is_reminder


async def test_a_clock_that_is_set_back_delays_no_reminder(night: Night) -> None:
    await night.ask("login", "question", "r1")
    night.now -= 86400
    await night.settle()
    await night.advance(600)
    assert night.channel.titles[1:] == ["Still waiting: login asks a question"]


async def test_a_reason_goes_only_to_the_channels_that_the_matrix_names(night: Night) -> None:
    matrix = dict(night.store.state.preferences.notify_matrix)
    await night.set_preferences(notify_matrix={**matrix, "finished": [], "question": ["page"]})
    sent = []
    reader = night.store.bus.reader()
    await night.end("login")
    await night.ask("parser", "question", "r1")
    night.store.bus.seal()
    sent = [each.event for each in reader.take()[0] if isinstance(each.event, NoticesSent)]
    assert [(each.channel, each.title) for each in sent] == [("page", "parser asks a question")]
    assert not night.channel.sent
    assert set(night.standing) == {"finished.login", "question.parser"}  # listed anyway


async def test_a_notice_says_little_and_never_a_secret(night: Night) -> None:
    night.change("login", name="fix \x1b[31m ghp_0123456789abcdefABCDEF0123456789abcd")
    asked = {"id": "r", "kind": "question", "questions": [{"question": "token=hunter2hunter2?"}]}
    night.change("login", status="waiting", waiting_for="question", request=asked)
    await night.settle()
    [sent] = night.channel.sent
    assert sent.message.title == "fix ␛[31m … asks a question"
    assert sent.message.text == ""
    await night.set_preferences(notify_details="summary")
    await night.ask("parser", "plan", "r2")
    assert night.channel.sent[1].message.text == "Do it"
    assert "hunter2" not in str(night.standing)


@pytest.mark.longer
async def test_a_thousand_waiting_sessions_need_one_timer(night: Night) -> None:
    for number in range(1000):
        night.store.record(
            SessionCreated(
                session=night.store.state.sessions["login"].model_copy(
                    update={"id": f"s{number}", "name": f"s{number}"}
                )
            )
        )
    before = len(asyncio.all_tasks())
    for number in range(1000):
        request = {"id": f"r{number}", "kind": "question"}
        night.change(f"s{number}", status="waiting", waiting_for="question", request=request)
    assert await night.settle() == 60.0
    assert len(night.standing) == 1000
    assert len(asyncio.all_tasks()) <= before + 1  # the store may be saving
    assert len(night.channel.sent) == 1


# Any order of events ------------------------------------------------------------------------------

SESSIONS = ("a", "b", "c", "d", "e")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.sampled_from(SESSIONS), st.sampled_from(
            ("permission", "question", "plan"))),
        st.tuples(st.sampled_from(("work", "end", "fail", "read", "look_at")),
                  st.sampled_from(SESSIONS)),
        st.tuples(st.just("advance"), st.sampled_from((1, 59, 120, 700, 5 * 3600))),
        st.tuples(st.sampled_from(("sleep", "set_back")), st.sampled_from((90, 9000))),
        st.tuples(st.sampled_from(("look_away", "restart", "break", "repair", "quiet", "loud"))),
    ),
    max_size=40,
)  # fmt: skip


class Walk:
    """One walk of steps, and what must hold after each."""

    def __init__(self, night: Night) -> None:
        self.night = night
        self.numbers = iter(range(10_000))
        self.shown: str | None = None
        self.checked = 0

    async def take(self, name: str, *given: Any) -> None:
        night = self.night
        match name:
            case "ask":
                await night.ask(given[0], given[1], f"r{next(self.numbers)}")
            case "work" | "end" | "read":
                await getattr(night, name)(given[0])
            case "fail":
                await night.end(given[0], status="failed", error="It broke.")
            case "look_at" | "look_away":
                self.shown = given[0] if given else None
                await night.look_at(self.shown)
            case "advance":
                await night.advance(given[0])
            case "sleep":
                await night.advance(given[0], asleep=True)
            case "set_back":
                night.now -= given[0]
                await night.settle()
            case "restart":
                await night.restart()
                await night.look_at(self.shown)
            case "break" | "repair":
                night.channel.error = DeliveryError("no network") if name == "break" else None
            case "quiet" | "loud":
                hours = quiet_around(night.now) if name == "quiet" else ""
                await night.set_preferences(notify_quiet_hours=hours)

    def check(self) -> None:
        night, state = self.night, self.night.store.state
        causes = {
            f"{cause.reason}.{session.id}"
            for session in state.sessions.values()
            for cause in find_session_causes(state, session)
        }
        assert set(state.notices) == causes
        quiet = parse_quiet_hours(state.preferences.notify_quiet_hours)
        is_quiet = quiet is not None and quiet.contains(night.now)
        new, self.checked = night.channel.sent[self.checked :], len(night.channel.sent)
        for sent in new:
            assert not is_quiet
            assert all(each.session_id != self.shown for each in sent.message.notices)
        assert len(new) <= 2 * BURST  # first words and reminders
        for is_reminder in (False, True):
            sent = Counter(
                key
                for sent in night.channel.sent
                if sent.message.is_reminder == is_reminder
                for key in sent.ids
            )
            assert all(times == 1 for times in sent.values()), sent
        if not is_quiet and night.channel.error is None and night.channel.failed_at is None:
            for notice in state.notices.values():
                assert notice.sent.keys() == set(notice.channels) or notice.seen_at is not None


@settings(max_examples=examples(20, 200))
@given(STEPS)
def test_in_any_order_nothing_is_sent_twice_late_or_to_someone_who_looks(
    steps: list[tuple[Any, ...]],
) -> None:
    async def walk() -> None:
        with TemporaryDirectory() as folder:
            night = await Night(Path(folder) / "spinney.db").open()
            for name in SESSIONS:
                await night.add_session(name)
            taken = Walk(night)
            for step in steps:
                await taken.take(*step)
                taken.check()
            await night.close()

    asyncio.run(walk())


async def test_a_channel_that_is_taken_out_of_the_settings_meanwhile_gets_nothing(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush = night.store.flush

    async def flush_after_the_change() -> None:
        night.channel.is_set_up = False
        await flush()

    monkeypatch.setattr(night.store, "flush", flush_after_the_change)
    await night.ask("login", "question", "question")
    await night.advance(5)
    assert (night.channel.is_set_up, night.channel.tries) == (False, 0)
