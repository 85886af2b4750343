"""`spinney service` against a systemd that writes down what it is asked."""

import json
import os
from pathlib import Path

import pytest

import spinney

SYSTEMCTL = """#!/bin/sh
echo "$@" >> "{log}"
case "$2" in
  show) [ -e "{place}/broken" ] && exit 1; echo Version=252 ;;
  is-enabled) [ -e "{place}/enabled" ] && echo enabled || {{ echo disabled; exit 1; }} ;;
  is-active) [ -e "{place}/active" ] && echo active || {{ echo inactive; exit 3; }} ;;
  enable) touch "{place}/enabled" ;;
  disable) rm -f "{place}/enabled" "{place}/active" ;;
  start | restart) touch "{place}/active" ;;
esac
"""
LOGINCTL = """#!/bin/sh
case "$1" in
  show-user) [ -e "{place}/linger" ] && echo yes || echo no ;;
  enable-linger) touch "{place}/linger" ;;
esac
"""


class FakeSystemd:
    """A systemctl and a loginctl on the PATH, with their state as files in `place`."""

    def __init__(self, place: Path) -> None:
        self.place, self.log = place, place / "asked"
        (place / "bin").mkdir(parents=True)
        for name, script in (("systemctl", SYSTEMCTL), ("loginctl", LOGINCTL)):
            program = place / "bin" / name
            program.write_text(script.format(place=place, log=self.log))
            program.chmod(0o755)

    @property
    def changes(self) -> list[str]:
        """The commands that changed something, in order."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        words = (line.removeprefix("--user ") for line in lines)
        return [line for line in words if not line.startswith(("show", "is-"))]


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSystemd:
    """A user's systemd, and directories of its own."""
    fake = FakeSystemd(tmp_path / "systemd")
    monkeypatch.setattr("sys.platform", "linux")
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_TOKEN"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", f"{fake.place / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    monkeypatch.setenv("SPINNEY_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("SPINNEY_CONFIG_DIR", str(tmp_path / "config"))
    return fake


def test_installing_writes_a_unit_starts_it_and_says_what_to_know(
    systemd: FakeSystemd, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    assert spinney.main(["service", "install"]) == 0
    unit = tmp_path / "home" / ".config" / "systemd" / "user" / "spinney.service"
    text = unit.read_text()
    assert f'Environment="PATH={systemd.place / "bin"}:/usr/bin:/bin"' in text
    assert f'Environment="SPINNEY_DATA_DIR={tmp_path / "data"}"' in text
    assert "sk-secret" not in text
    assert systemd.changes == ["daemon-reload", "enable spinney", "restart spinney"]
    said = capsys.readouterr().out
    assert f"Wrote {unit}\nThe service is started.\nLog: journalctl --user -u spinney\n" in said
    assert "Not copied, because the file is not secret: ANTHROPIC_API_KEY." in said
    assert "It ends when you log out. To keep it running" in said
    assert not (systemd.place / "linger").exists()  # never silently

    assert spinney.main(["service", "install", "--linger"]) == 0
    assert systemd.changes[3:] == ["daemon-reload", "enable spinney", "start spinney"]
    assert "It keeps running when you are logged out." in capsys.readouterr().out
    assert spinney.main(["service"]) == 0
    assert "The service is running." in capsys.readouterr().out


def test_uninstalling_stops_it_and_deletes_the_unit(
    systemd: FakeSystemd, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spinney.main(["service", "install"])
    capsys.readouterr()
    assert spinney.main(["service", "uninstall"]) == 0
    assert systemd.changes[-2:] == ["disable --now spinney", "daemon-reload"]
    assert not list((tmp_path / "home").rglob("spinney.service"))
    assert "Your data is kept." in capsys.readouterr().out
    assert spinney.main(["service", "uninstall"]) == 0
    assert spinney.main(["service", "status"]) == 3
    assert "Install it with: spinney service install" in capsys.readouterr().out


def test_a_unit_of_another_shell_is_recognized_and_printing_changes_nothing(
    systemd: FakeSystemd, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert spinney.main(["service", "install", "--print"]) == 0
    assert "ExecStart=" in capsys.readouterr().out
    assert systemd.changes == []
    spinney.main(["service", "install"])
    monkeypatch.setenv("SPINNEY_LOG", "debug")
    capsys.readouterr()
    assert spinney.main(["service", "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["is_running"], status["is_current"]) == (True, False)


def test_without_a_systemd_of_the_user_it_says_what_to_do_instead(
    systemd: FakeSystemd, capsys: pytest.CaptureFixture[str]
) -> None:
    (systemd.place / "broken").touch()
    assert spinney.main(["service", "install"]) == 1
    assert "`spinney serve --wait`" in capsys.readouterr().err
