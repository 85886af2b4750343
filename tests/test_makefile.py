"""The environment of `make run` and `make test`, on machines that make it difficult."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.program import ROOT

WITHOUT_VENV = f"""\
#!/bin/sh
# Behaves as Debian's python3 without the package python3-venv.
[ "$1 $2" = "-m venv" ] || exec {sys.executable} "$@"
{sys.executable} -m venv --without-pip .venv
echo 'The virtual environment was not created successfully because ensurepip is not available.'
exit 1
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    checkout = tmp_path / "a checkout"
    checkout.mkdir()
    shutil.copy(ROOT / "Makefile", checkout)
    return checkout


def make_environment(checkout: Path, python: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["make", f"PYTHON={python}", ".venv/bin/python"], cwd=checkout, capture_output=True,
        text=True, env={"PATH": os.environ["PATH"], "HOME": str(checkout)},
    )  # fmt: skip


def is_usable(checkout: Path) -> bool:
    pip = subprocess.run([checkout / ".venv/bin/pip", "--version"], capture_output=True, text=True)
    return pip.returncode == 0 and str(checkout) in pip.stdout


def test_a_python_without_venv_is_named_and_leaves_nothing_that_breaks_the_next_try(
    checkout: Path,
) -> None:
    debian = checkout / "python3"
    debian.write_text(WITHOUT_VENV)
    debian.chmod(0o755)
    for _ in range(2):
        failed = make_environment(checkout, "./python3")
        assert failed.returncode == 2 and "sudo apt install python3-venv" in failed.stderr
        assert not (checkout / ".venv").exists()
    assert make_environment(checkout, sys.executable).returncode == 0
    assert is_usable(checkout)


def test_an_environment_that_was_not_finished_or_was_moved_is_made_again(checkout: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", checkout / ".venv"], check=True)
    assert make_environment(checkout, sys.executable).returncode == 0
    assert is_usable(checkout)
    again = make_environment(checkout, "false")
    assert (again.returncode, again.stdout.count("up to date")) == (0, 1)
    moved = checkout.rename(checkout.with_name("moved"))
    assert make_environment(moved, sys.executable).returncode == 0
    assert is_usable(moved)
