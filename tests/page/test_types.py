"""The page's modules are type-checked by their JSDoc comments."""

import re
import shutil
import subprocess

import pytest

from tests.patience import PATIENCE
from tests.program import ROOT


def test_the_modules_pass_the_type_checker() -> None:
    tsc = shutil.which("tsc")
    if tsc is None:
        pytest.skip("needs tsc, from the npm package typescript")
    ran = subprocess.run(
        [tsc, "--project", "tests/page/jsconfig.json", "--pretty", "false"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.short
def test_every_module_is_type_checked() -> None:
    modules = sorted((ROOT / "server" / "web").rglob("*.js"))
    assert modules
    first = {str(path.relative_to(ROOT)): path.read_text().splitlines()[0] for path in modules}
    assert {name: line for name, line in first.items() if line != "// @ts-check"} == {}


@pytest.mark.short
def test_no_handler_can_cancel_an_event_by_what_it_returns() -> None:
    """What a handler set as `element.onkeydown` returns counts: `false` cancels the key."""
    handler = re.compile(r"""\.on[a-z]+\s*=(?!=)|setAttribute\(["'`]on""")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in sorted((ROOT / "server" / "web").rglob("*.js"))
        for line in path.read_text().splitlines()
        if handler.search(line)
    ]
    assert found == [], "use addEventListener, or `make`, which does"
