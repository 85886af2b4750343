"""The files that define the service: a unit that systemd accepts, and a property list."""

import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.service.definition import ServiceDefinition, define_service


def define(program: Path, **environment: str) -> ServiceDefinition:
    return ServiceDefinition((str(program),), environment, Path("/tmp/service.log"))


def test_systemd_accepts_the_unit_without_a_warning(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze") or pytest.skip("needs systemd-analyze")
    program = tmp_path / "with spaces, $and 100%" / "spinney"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = tmp_path / "spinney.service"
    unit.write_text(define(program, PATH=f"{program.parent}:/usr/bin", LANG="C").format_unit())
    ran = subprocess.run(
        [analyze, "verify", "--user", "--man=no", unit],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)},
    )
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, "")


def test_what_systemd_would_replace_is_quoted() -> None:
    python = ServiceDefinition(("/a $b 5%/python", "$c"), {"PATH": '/x "$HOME" %h'}, Path("/log"))
    unit = python.format_unit()
    assert 'ExecStart="/a $b 5%%/python" "$$c" "serve" "--wait"\n' in unit
    assert 'Environment="PATH=/x \\"$HOME\\" %%h"\n' in unit
    with pytest.raises(SpinneyError, match="Install Spinney elsewhere"):
        define(Path('/with "quotes"/spinney')).format_unit()


def test_launchd_gets_program_environment_and_log() -> None:
    found = plistlib.loads(define(Path("/opt/a & b/spinney"), PATH="/x:/y").format_plist())
    assert found["ProgramArguments"] == ["/opt/a & b/spinney", "serve", "--wait"]
    assert found["EnvironmentVariables"] == {"PATH": "/x:/y"}
    assert (found["RunAtLoad"], found["KeepAlive"]) == (True, {"SuccessfulExit": False})
    assert found["StandardErrorPath"] == "/tmp/service.log"


def test_a_value_with_control_characters_is_refused() -> None:
    for form in ("format_unit", "format_plist"):
        with pytest.raises(SpinneyError, match="cannot contain control characters"):
            getattr(define(Path("/spinney"), PATH="/x\nExecStart=/bad"), form)()


def test_the_service_finds_programs_after_the_shell_that_it_was_installed_from(
    tmp_path: Path,
) -> None:
    real = tmp_path / "versions" / "bin"
    real.mkdir(parents=True)
    shell = tmp_path / "multishells" / "1"
    shell.parent.mkdir()
    shell.symlink_to(real.parent)
    defined = define_service(tmp_path, {"PATH": f"{shell}/bin:/usr/bin"})
    folders = defined.environment["PATH"].split(":")
    assert folders[:2] == [f"{shell}/bin", "/usr/bin"], "in their order"
    assert str(real.resolve()) in folders
    assert len(folders) == len(set(folders))
