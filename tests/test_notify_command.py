"""`spinney notify` with a whole program."""

import json
from pathlib import Path

from tests.program import Program


def test_notices_are_listed_and_channels_tested(tmp_path: Path) -> None:
    program = Program(tmp_path)
    with program.serving("--demo"):
        assert program.run("notify").stdout == "Nothing waits for you.\n"
        assert program.run("notify", "--json").stdout == "[]\n"
        tested = program.run("notify", "--test")
        assert (
            tested.stdout == "Terminal: shown where one is open.\nPage: shown where one is open.\n"
        )
        failed = program.run("notify", "--test", "--channel", "ntfy", "--json")
        assert failed.returncode == 1
        [result] = json.loads(failed.stdout)
        assert result["detail"].startswith("ntfy is not set up.")
