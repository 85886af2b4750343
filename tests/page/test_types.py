"""The page's modules are typed by their comments, and the types hold."""

import shutil
import subprocess

import pytest

from tests.patience import PATIENCE
from tests.program import ROOT


def test_the_types_in_the_comments_of_the_modules_hold() -> None:
    tsc = shutil.which("tsc")
    if tsc is None:
        pytest.skip("needs tsc, which npm's package typescript brings")
    ran = subprocess.run(
        [tsc, "--project", "tests/page/jsconfig.json", "--pretty", "false"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_module_asks_for_them() -> None:
    modules = sorted((ROOT / "server" / "web").rglob("*.js"))
    assert modules
    first = {str(path.relative_to(ROOT)): path.read_text().splitlines()[0] for path in modules}
    assert {name: line for name, line in first.items() if line != "// @ts-check"} == {}
