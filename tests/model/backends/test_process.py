"""Agent processes: reading their lines, describing their exit and ending them completely."""

import asyncio
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from model.backends import process as backend_process
from model.backends.process import AgentProcess, InvalidLine, JsonLine, build_agent_environment
from model.base.errors import SpinneyError
from tests.model.backends.agents import children, first, is_running, wait_until
from tests.patience import PATIENCE

Start = Callable[[str], Awaitable[AgentProcess]]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Starts a Python program; every process is closed at the test's end."""
    started: list[AgentProcess] = []

    async def start(program: str) -> AgentProcess:
        code = "import json, os, signal, subprocess, sys, time\n" + textwrap.dedent(program)
        command = [sys.executable, "-c", code]
        process = await AgentProcess.start(command, tmp_path, build_agent_environment({}))
        started.append(process)
        return process

    yield start
    await asyncio.gather(*(process.close() for process in started))
    assert not children() & {process.pid for process in started}


async def read_all(process: AgentProcess) -> list[JsonLine | InvalidLine]:
    async with asyncio.timeout(PATIENCE):
        return [line async for line in process.read_lines()]


async def test_what_is_written_comes_back(start: Start) -> None:
    process = await start("for line in sys.stdin: print(line, end='', flush=True)")
    await process.write({"text": "ä\n\ud800"})
    assert (await first(process.read_lines())) == JsonLine({"text": "ä\n?"})


async def test_a_program_that_dies_while_streaming_ends_the_lines_immediately(start: Start) -> None:
    process = await start("""
        print('{"n": 1}', flush=True)
        print('no idea\\x1b[31m', file=sys.stderr)
        sys.exit(1)
    """)
    assert await read_all(process) == [JsonLine({"n": 1})]
    await process.wait_settled()
    assert process.describe_exit("It") == (
        "It ended unexpectedly (exit code 1). Send a message to start it again. "
        "Last output: no idea"
    )


@pytest.mark.parametrize("depth", [1, 40])
async def test_the_last_line_of_a_traceback_is_shown_and_more_is_logged(
    start: Start, caplog: pytest.LogCaptureFixture, depth: int
) -> None:
    caplog.set_level("INFO")
    process = await start(f"""
        def work(depth, other=None):
            if not depth: raise RuntimeError('the loom is stuck')
            other(depth - 1, work) if other else work(depth - 1, work)
        work({depth})
    """)
    await read_all(process)
    await process.wait_settled()
    assert process.describe_exit("It").endswith("Last output: RuntimeError: the loom is stuck")
    assert ", in work" in caplog.text


async def test_the_end_of_a_long_stderr_is_shown(start: Start) -> None:
    process = await start("for n in range(50): print(n, 'x' * 400, file=sys.stderr)")
    await read_all(process)
    await process.wait_settled()
    words = process.describe_exit("It").partition(" Last output: ")[2]
    assert len(words) <= 600
    assert "\n49 x" in words


async def test_a_program_that_kills_itself_is_explained(start: Start) -> None:
    process = await start("os.kill(os.getpid(), signal.SIGKILL)")
    assert await read_all(process) == []
    await process.wait_settled()
    assert process.describe_exit("It").startswith("It was killed (SIGKILL). Send a message")


async def test_only_the_last_lines_of_stderr_are_kept(start: Start) -> None:
    process = await start("for n in range(100): print(n, file=sys.stderr)")
    await read_all(process)
    await process.wait_settled()
    assert process.stderr_tail.splitlines() == [str(n) for n in range(80, 100)]


async def test_a_line_of_five_megabytes_is_one_line(start: Start) -> None:
    process = await start("print(json.dumps({'text': 'x' * 5_000_000}), flush=True)")
    (line,) = await read_all(process)
    assert isinstance(line, JsonLine)
    assert len(line.value["text"]) == 5_000_000


async def test_lines_that_are_not_json_objects_are_reported_and_the_rest_is_read(
    start: Start,
) -> None:
    process = await start("""
        sys.stdout.buffer.write(b'oh\\xff no\\n\\n[1]\\n' + b'[' * 100_000 + b'\\n')
        sys.stdout.buffer.write(b'{"text": "\\xff"}\\n{"last": 1}')
    """)
    *invalid, text, last = await read_all(process)
    assert [type(line) for line in invalid] == [InvalidLine] * 3
    assert invalid[0] == InvalidLine("not JSON", "oh� no")
    assert (text, last) == (JsonLine({"text": "�"}), JsonLine({"last": 1}))


async def test_an_incomplete_last_line_is_ignored(start: Start) -> None:
    process = await start("""print('{"n": 1}\\n{"n": ', end='', flush=True)""")
    assert await read_all(process) == [JsonLine({"n": 1})]


async def test_a_flood_of_output_waits_for_its_reader(start: Start, tmp_path: Path) -> None:
    process = await start("""
        for n in range(1_000_000):
            print(json.dumps({'n': n, 'fill': 'x' * 1000}), flush=True)
            if n % 100 == 0:
                with open('new', 'w') as file: file.write(str(n))
                os.replace('new', 'written')
    """)
    lines = process.read_lines()
    assert await first(lines) == JsonLine({"n": 0, "fill": "x" * 1000})
    written = tmp_path / "written"
    await wait_until(written.exists)

    async def stands_still() -> bool:
        before = written.read_text()
        await asyncio.sleep(0.3)
        return before == written.read_text()

    async with asyncio.timeout(PATIENCE):
        while not await stands_still():
            pass
    assert int(written.read_text()) < 5_000


async def test_a_grandchild_that_holds_stdout_does_not_hide_the_end(start: Start) -> None:
    process = await start("""
        subprocess.Popen(['sleep', '60'])
        print('{"n": 1}', flush=True)
    """)
    async with asyncio.timeout(PATIENCE):
        assert await read_all(process) == [JsonLine({"n": 1})]
    assert process.returncode == 0


async def test_a_slow_exit_is_waited_for_and_reported(start: Start) -> None:
    process = await start("os.close(1); time.sleep(1); sys.exit('no idea')")
    assert await read_all(process) == []
    await process.wait_settled()
    assert process.describe_exit("It").startswith("It ended unexpectedly (exit code 1).")
    assert process.describe_exit("It").endswith("Last output: no idea")


async def test_a_program_that_closes_stdout_and_keeps_running_is_unresponsive(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_process, "_EXIT_TIMEOUT", 0.1)
    process = await start("os.close(1); os.close(2); time.sleep(60)")
    assert await read_all(process) == []
    await process.wait_settled()
    assert process.describe_exit("It").startswith("It stopped responding.")


async def test_closing_ends_a_program_that_ignores_sigterm(start: Start) -> None:
    process = await start("""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print('{}', flush=True)
        while True: time.sleep(1)
    """)
    await first(process.read_lines())
    async with asyncio.timeout(PATIENCE):
        await process.close()
    assert process.returncode == -9


async def test_closing_leaves_no_descendant_however_it_hides(start: Start) -> None:
    process = await start("""
        sleep = ['sleep', '60']
        same_group = subprocess.Popen(sleep).pid
        own_session = subprocess.Popen(sleep, start_new_session=True).pid
        orphan = int(subprocess.check_output(
            ['sh', '-c', 'setsid sleep 60 >/dev/null 2>&1 & echo $!']))
        unmarked = subprocess.Popen(sleep, env={}, start_new_session=True).pid
        print(json.dumps({'pids': [same_group, own_session, orphan, unmarked]}), flush=True)
        time.sleep(60)
    """)
    said = await first(process.read_lines())
    assert isinstance(said, JsonLine)
    pids = said.value["pids"]
    assert all(map(is_running, pids))
    await process.close()
    await wait_until(lambda: not any(map(is_running, pids)))


async def test_closing_a_cooperative_program_is_quick_and_ends_its_orphans(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_process, "CLOSE_TIMEOUT", 2 * PATIENCE)
    process = await start("""
        child = subprocess.Popen(['sleep', '60'], start_new_session=True).pid
        print(json.dumps({'pid': child}), flush=True)
        sys.stdin.read()
    """)
    said = await first(process.read_lines())
    assert isinstance(said, JsonLine)
    async with asyncio.timeout(PATIENCE):
        await process.close()
    assert process.returncode == 0
    await wait_until(lambda: not is_running(said.value["pid"]))


async def test_killing_waits_for_nothing(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLOSE_TIMEOUT", "TERM_TIMEOUT"):
        monkeypatch.setattr(backend_process, name, 2 * PATIENCE)
    process = await start("signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)")
    async with asyncio.timeout(PATIENCE):
        await process.kill()
    assert process.returncode == -9


async def test_closing_twice_and_at_once_is_harmless(start: Start) -> None:
    process = await start("sys.stdin.read()")
    await asyncio.gather(process.close(), process.close(), process.kill())
    await process.close()


async def test_writing_to_a_dead_program_raises_a_readable_error(start: Start) -> None:
    process = await start("")
    await read_all(process)
    with pytest.raises(SpinneyError, match="no longer accepts input"):
        for _ in range(3):
            await process.write({"text": "x" * 100_000})


async def test_a_missing_program_raises_a_readable_error(tmp_path: Path) -> None:
    with pytest.raises(SpinneyError, match="could not be started") as raised:
        await AgentProcess.start([str(tmp_path / "nothing")], tmp_path, {})
    assert raised.value.error_type == "backend_unavailable"


async def test_a_missing_directory_raises_a_readable_error(tmp_path: Path) -> None:
    with pytest.raises(SpinneyError, match="directory is missing"):
        await AgentProcess.start([sys.executable], tmp_path / "gone", {})


async def test_no_file_descriptor_leaks(start: Start, tmp_path: Path) -> None:
    def open_files() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    process = await start("sys.stdin.read()")
    await process.close()
    await asyncio.sleep(0)
    before = open_files()
    for _ in range(5):
        process = await start("sys.stdin.read()")
        await process.close()
        with pytest.raises(SpinneyError):
            await AgentProcess.start(["/nothing"], tmp_path, {})
    await wait_until(lambda: open_files() <= before)


def test_spinneys_own_settings_do_not_reach_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPINNEY_TOKEN", "SPINNEY_OWNER", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("SPINNEY_DATA_DIR", "/data")
    monkeypatch.setenv("OTHER_KEY", "kept")
    environment = build_agent_environment({"SPINNEY_OWNER": "ours"})
    assert environment["SPINNEY_OWNER"] == "ours"
    assert environment["SPINNEY_DATA_DIR"] == "/data"  # `spinney call` finds its server by it
    assert environment["OTHER_KEY"] == "kept"
    assert not environment.keys() & {"SPINNEY_TOKEN", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"}
