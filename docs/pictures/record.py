"""Records twenty seconds of the terminal: the running program, a repository, the demo agent.

make recordings
"""

import tempfile
from pathlib import Path

from docs.pictures.asciicast import RecordedTerminal, recorded, write_svg
from tests.program import Program

HERE = Path(__file__).parent
SIZE = (110, 30)


def play(terminal: RecordedTerminal) -> None:
    """A plan, the changes it led to, a task in a worktree of its own, and the way back."""
    terminal.wait("enter send")
    terminal.watch(1.0)
    terminal.begin()
    terminal.watch(0.5)
    terminal.type("Hello! Show me what you can do.")
    terminal.press("\r")
    terminal.wait("Build")
    terminal.watch(1.5)
    terminal.press("\r")
    terminal.wait("lists all I can do")
    terminal.watch(1.5)
    terminal.press("\x07")  # ctrl+g
    terminal.watch(2.5)
    terminal.press("\x1b")
    terminal.watch(1.0)
    terminal.press("\x0e")  # ctrl+n
    terminal.watch(0.8)
    terminal.type("/demo permission git status")
    terminal.press("\r")
    terminal.wait("Allow")
    terminal.watch(1.5)
    terminal.press("\x1b[1;3D")  # alt+left
    terminal.watch(2.0)


def main() -> None:
    """Record, and write the cast and the picture that plays it."""
    with tempfile.TemporaryDirectory() as folder:
        program = Program(Path(folder))
        environ = program.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        command = [*program.command, "demo"]
        with recorded(command, environ, *SIZE) as (terminal, recording):
            play(terminal)
    recording.write_cast(HERE / "terminal.cast")
    write_svg(recording, HERE / "terminal-recording.svg")


if __name__ == "__main__":
    main()
