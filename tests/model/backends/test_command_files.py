"""Commands that lie in folders as Markdown files."""

import os
from pathlib import Path

import pytest

from model.backends.claude import commands
from model.backends.command_files import MOST, commands_in, skills_in
from model.domain.resources import AgentCommand


def written(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def one(folder: Path) -> AgentCommand:
    (command,) = commands_in(folder, ":")
    return command


def test_a_file_is_a_command_called_by_its_path(tmp_path: Path) -> None:
    written(tmp_path / "area/deep.md", "Dig.")
    written(tmp_path / "notes.txt", "No command.")
    written(tmp_path / ".hidden/x.md", "No command.")
    assert [command.name for command in commands_in(tmp_path, "/")] == ["area/deep"]
    assert one(tmp_path).name == "area:deep"


@pytest.mark.parametrize(
    ("content", "description", "hint"),
    [
        ("---\ndescription: Weave\nargument-hint: [yarn]\n---\nx", "Weave", "[yarn]"),
        ('---\ndescription: "Weave: a cloth"\n---\nx', "Weave: a cloth", ""),
        ("---\ndescription: >\n  Weave\n  a cloth\nmodel: opus\n---\nx", "Weave a cloth", ""),
        ("---\r\ndescription: Weave\r\n---\r\nx", "Weave", ""),
        ("---\nmodel: opus\n---\n\nWeave at once.\nMore.", "Weave at once.", ""),
        ("\nWeave at once.", "Weave at once.", ""),
        ("---\ndescription: never ends", "---", ""),
        ("  indented: first\n", "indented: first", ""),
        ("---\n  strange\n---\nWeave.", "Weave.", ""),
        ("", "", ""),
    ],
)
def test_its_head_says_what_it_does_or_else_its_first_line(
    tmp_path: Path, content: str, description: str, hint: str
) -> None:
    written(tmp_path / "weave.md", content)
    assert one(tmp_path) == AgentCommand(name="weave", description=description, argument_hint=hint)


def test_a_skill_is_called_by_its_head_or_its_folder(tmp_path: Path) -> None:
    written(tmp_path / "a/SKILL.md", "---\nname: wind\n---\n")
    written(tmp_path / "b/SKILL.md", "Wind.")
    written(tmp_path / "b/more.md", "A page of it.")
    written(tmp_path / "c/SKILL.md", "---\nuser-invocable: false\n---\nNot for people.")
    assert [command.name for command in skills_in(tmp_path)] == ["wind", "b"]


def test_what_cannot_be_read_costs_only_itself(tmp_path: Path) -> None:
    written(tmp_path / "good.md", "Good.")
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe\x00 text")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.md")
    assert [command.name for command in commands_in(tmp_path, ":")] == ["binary", "good"]
    assert list(commands_in(tmp_path / "nothing here", ":")) == []


def test_a_folder_that_leads_into_itself_and_one_with_too_much_come_to_an_end(
    tmp_path: Path,
) -> None:
    written(tmp_path / "a.md", "A.")
    (tmp_path / "again").symlink_to(tmp_path)
    assert "again:a" in [command.name for command in commands_in(tmp_path, ":")]
    for number in range(MOST + 5):
        (tmp_path / f"{number}.md").touch()
    assert len(list(commands_in(tmp_path, ":"))) == MOST


def test_claude_codes_are_looked_for_where_the_person_keeps_them(tmp_path: Path) -> None:
    written(tmp_path / "worktree/.claude/commands/ours.md", "Ours.")
    written(tmp_path / "home/.claude/commands/mine.md", "Mine.")
    written(tmp_path / "other/skills/moved/SKILL.md", "Moved.")
    home = {"HOME": str(tmp_path / "home")}
    found = commands.find_commands(tmp_path / "worktree", home)
    assert [command.name for command in found] == ["ours", "mine"]
    moved = {**home, "CLAUDE_CONFIG_DIR": str(tmp_path / "other")}
    found = commands.find_commands(tmp_path / "worktree", moved)
    assert [command.name for command in found] == ["ours", "moved"]
