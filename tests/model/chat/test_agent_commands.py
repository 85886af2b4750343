"""Which of an agent's own commands people are offered."""

from model.backends import base
from model.chat.agent_commands import MAX_COMMANDS, merge_commands
from model.domain.resources import AgentCommand
from tests.model.chat.stage import DONE, Stage

WEAVE = AgentCommand(name="weave", description="Weave a cloth", argument_hint="[yarn]")
SPIN = AgentCommand(name="spin")


def test_what_the_program_told_goes_before_what_was_only_seen_in_files() -> None:
    seen = AgentCommand(name="weave", description="as its file says")
    assert merge_commands([WEAVE], [seen, SPIN]) == [WEAVE, SPIN]


def test_names_that_cannot_be_written_or_are_nobodys_business_are_left_out() -> None:
    bad = ["", "two words", "/slash", "line\nbreak", "\x1b[31mred", "__internal", "x" * 101]
    assert merge_commands([AgentCommand(name=name) for name in bad], [SPIN]) == [SPIN]


def test_foreign_words_are_cleaned_and_cut() -> None:
    loud = AgentCommand(name="a", description="one\ntwo\x1b[2J " + "x" * 9999, argument_hint="a\tb")
    (shown,) = merge_commands([loud], [])
    assert shown.description.startswith("one two")
    assert len(shown.description) == 300
    assert "\x1b" not in shown.description
    assert shown.argument_hint == "a b"


def test_a_program_gone_wrong_offers_no_more_than_one_can_look_at() -> None:
    assert (
        len(merge_commands([AgentCommand(name=f"c{n}") for n in range(MAX_COMMANDS + 9)], [SPIN]))
        == MAX_COMMANDS
    )


async def test_what_an_agent_told_holds_in_its_worktree_until_it_tells_anew(stage: Stage) -> None:
    assert stage.chats.reported_commands("w", "demo") == ()
    await stage.chats.send("s", "hello")
    puppet = await stage.backend.newest()
    puppet.say(base.CommandsKnown((WEAVE, SPIN)), DONE)
    await stage.settled()
    await stage.add_session("another")
    assert stage.chats.reported_commands("w", "demo") == (WEAVE, SPIN)
    assert stage.chats.reported_commands("w", "backend_a") == ()
    assert stage.chats.reported_commands("elsewhere", "demo") == ()
    await stage.chats.send("s", "again")
    puppet.say(base.CommandsKnown((SPIN,)), DONE)
    await stage.settled()
    assert stage.chats.reported_commands("w", "demo") == (SPIN,)


async def test_commands_that_are_told_between_turns_open_no_answer(stage: Stage) -> None:
    await stage.chats.send("s", "hello")
    puppet = await stage.backend.newest()
    puppet.say(DONE)
    await stage.settled()
    puppet.say(base.CommandsKnown((SPIN,)), base.Notice("heard"))
    await stage.until_told("heard")
    assert stage.chats.reported_commands("w", "demo") == (SPIN,)
    assert len(await stage.messages()) == 2
