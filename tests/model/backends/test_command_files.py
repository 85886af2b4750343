"""Commands defined by Markdown files in folders."""

import os
from pathlib import Path

import pytest

from model.backends.claude import commands
from model.backends.command_files import FILE_LIMIT, read_commands, read_skills
from model.domain.agent_commands import AgentCommand


def write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def read_one(folder: Path) -> AgentCommand:
    (command,) = read_commands(folder, ":")
    return command


def test_a_file_is_a_command_named_by_its_path(tmp_path: Path) -> None:
    write(tmp_path / "area/deep.md", "Dig.")
    write(tmp_path / "notes.txt", "No command.")
    write(tmp_path / ".hidden/x.md", "No command.")
    assert [command.name for command in read_commands(tmp_path, "/")] == ["area/deep"]
    assert read_one(tmp_path).name == "area:deep"


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
def test_the_description_is_from_the_front_matter_or_the_first_line(
    tmp_path: Path, content: str, description: str, hint: str
) -> None:
    write(tmp_path / "weave.md", content)
    assert read_one(tmp_path) == AgentCommand(
        name="weave", description=description, argument_hint=hint
    )


def test_a_skill_is_named_by_its_front_matter_or_its_folder(tmp_path: Path) -> None:
    write(tmp_path / "a/SKILL.md", "---\nname: wind\n---\n")
    write(tmp_path / "b/SKILL.md", "Wind.")
    write(tmp_path / "b/more.md", "A page of it.")
    write(tmp_path / "c/SKILL.md", "---\nuser-invocable: false\n---\nNot for people.")
    assert [command.name for command in read_skills(tmp_path)] == ["wind", "b"]


def test_unreadable_files_do_not_affect_others(tmp_path: Path) -> None:
    write(tmp_path / "good.md", "Good.")
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe\x00 text")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.md")
    assert [command.name for command in read_commands(tmp_path, ":")] == ["binary", "good"]
    assert list(read_commands(tmp_path / "nothing here", ":")) == []


def test_recursive_symlinks_and_too_many_files_are_limited(
    tmp_path: Path,
) -> None:
    write(tmp_path / "a.md", "A.")
    (tmp_path / "again").symlink_to(tmp_path)
    assert "again:a" in [command.name for command in read_commands(tmp_path, ":")]
    for number in range(FILE_LIMIT + 5):
        (tmp_path / f"{number}.md").touch()
    assert len(list(read_commands(tmp_path, ":"))) == FILE_LIMIT


def test_commands_of_claude_code_are_read_from_the_worktree_and_the_users_folder(
    tmp_path: Path,
) -> None:
    write(tmp_path / "worktree/.claude/commands/ours.md", "Ours.")
    write(tmp_path / "home/.claude/commands/mine.md", "Mine.")
    write(tmp_path / "other/skills/moved/SKILL.md", "Moved.")
    home = {"HOME": str(tmp_path / "home")}
    found = commands.find_commands(tmp_path / "worktree", home)
    assert [command.name for command in found] == ["ours", "mine"]
    moved = {**home, "CLAUDE_CONFIG_DIR": str(tmp_path / "other")}
    found = commands.find_commands(tmp_path / "worktree", moved)
    assert [command.name for command in found] == ["ours", "moved"]
