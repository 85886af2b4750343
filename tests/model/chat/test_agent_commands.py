"""Which of an agent's own commands are offered."""

from model.backends import agent_events
from model.chat.agent_commands import MAX_COMMANDS, merge_commands
from model.domain.agent_commands import AgentCommand
from tests.model.chat.harness import DONE, Harness

WEAVE = AgentCommand(name="weave", description="Weave a cloth", argument_hint="[yarn]")
SPIN = AgentCommand(name="spin")


def test_reported_commands_take_precedence_over_commands_from_files() -> None:
    from_file = AgentCommand(name="weave", description="as its file says")
    assert merge_commands([WEAVE], [from_file, SPIN]) == [WEAVE, SPIN]


def test_invalid_and_internal_names_are_skipped() -> None:
    bad = ["", "two words", "/slash", "line\nbreak", "\x1b[31mred", "__internal", "x" * 101]
    assert merge_commands([AgentCommand(name=name) for name in bad], [SPIN]) == [SPIN]


def test_descriptions_are_sanitized_and_truncated() -> None:
    command = AgentCommand(
        name="a", description="one\ntwo\x1b[2J " + "x" * 9999, argument_hint="a\tb"
    )
    (shown,) = merge_commands([command], [])
    assert shown.description.startswith("one two")
    assert len(shown.description) == 300
    assert "\x1b" not in shown.description
    assert shown.argument_hint == "a b"


def test_the_number_of_commands_is_limited() -> None:
    assert (
        len(merge_commands([AgentCommand(name=f"c{n}") for n in range(MAX_COMMANDS + 9)], [SPIN]))
        == MAX_COMMANDS
    )


async def test_reported_commands_apply_to_the_worktree_until_the_next_report(
    harness: Harness,
) -> None:
    assert harness.conversations.reported_commands("w", "demo") == ()
    puppet = await harness.start_turn("hello")
    puppet.say(agent_events.CommandsListed((WEAVE, SPIN)), DONE)
    await harness.wait_for_turn()
    await harness.add_session("another")
    assert harness.conversations.reported_commands("w", "demo") == (WEAVE, SPIN)
    assert harness.conversations.reported_commands("w", "backend_a") == ()
    assert harness.conversations.reported_commands("elsewhere", "demo") == ()
    await harness.start_turn("again")
    puppet.say(agent_events.CommandsListed((SPIN,)), DONE)
    await harness.wait_for_turn()
    assert harness.conversations.reported_commands("w", "demo") == (SPIN,)


async def test_commands_reported_between_turns_start_no_message(harness: Harness) -> None:
    puppet = await harness.start_turn("hello")
    puppet.say(DONE)
    await harness.wait_for_turn()
    puppet.say(agent_events.CommandsListed((SPIN,)), agent_events.Notice("received"))
    await harness.wait_for_notice("received")
    assert harness.conversations.reported_commands("w", "demo") == (SPIN,)
    assert len(await harness.messages()) == 2
