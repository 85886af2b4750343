"""Programs that misbehave: read, explained and ended, with nothing left of them."""

import asyncio
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from model.backends import process as backend_process
from model.backends.process import AgentProcess, InvalidLine, JsonLine, build_agent_environment
from model.base.errors import SpinneyError
from tests.model.backends.agents import becomes, children, first, lives
from tests.patience import PATIENCE

Start = Callable[[str], Awaitable[AgentProcess]]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Starts a Python program; everything is closed at the end."""
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


async def everything(process: AgentProcess) -> list[JsonLine | InvalidLine]:
    async with asyncio.timeout(PATIENCE):
        return [line async for line in process.read_lines()]


async def test_what_is_written_comes_back(start: Start) -> None:
    process = await start("for line in sys.stdin: print(line, end='', flush=True)")
    await process.write({"text": "ä\n\ud800"})
    assert (await first(process.read_lines())) == JsonLine({"text": "ä\n?"})


async def test_a_program_that_dies_in_mid_stream_ends_the_lines_at_once(start: Start) -> None:
    process = await start("""
        print('{"n": 1}', flush=True)
        print('no idea\\x1b[31m', file=sys.stderr)
        sys.exit(1)
    """)
    assert await everything(process) == [JsonLine({"n": 1})]
    await process.wait_settled()
    assert process.describe_exit("It") == (
        "It ended unexpectedly (exit code 1). Send a message to start it again. "
        "Last output: no idea"
    )


@pytest.mark.parametrize("depth", [1, 40])
async def test_of_a_traceback_people_see_the_last_line_and_the_log_has_more(
    start: Start, caplog: pytest.LogCaptureFixture, depth: int
) -> None:
    caplog.set_level("INFO")
    process = await start(f"""
        def work(depth, other=None):
            if not depth: raise RuntimeError('the loom is stuck')
            other(depth - 1, work) if other else work(depth - 1, work)
        work({depth})
    """)
    await everything(process)
    await process.wait_settled()
    assert process.describe_exit("It").endswith("Last output: RuntimeError: the loom is stuck")
    assert ", in work" in caplog.text


async def test_of_much_on_stderr_people_see_the_end(start: Start) -> None:
    process = await start("for n in range(50): print(n, 'x' * 400, file=sys.stderr)")
    await everything(process)
    await process.wait_settled()
    words = process.describe_exit("It").partition(" Last output: ")[2]
    assert len(words) <= 600
    assert "\n49 x" in words


async def test_a_program_that_kills_itself_is_explained(start: Start) -> None:
    process = await start("os.kill(os.getpid(), signal.SIGKILL)")
    assert await everything(process) == []
    await process.wait_settled()
    assert process.describe_exit("It").startswith("It was killed (SIGKILL). Send a message")


async def test_only_the_last_lines_of_stderr_are_kept(start: Start) -> None:
    process = await start("for n in range(100): print(n, file=sys.stderr)")
    await everything(process)
    await process.wait_settled()
    assert process.stderr_tail.splitlines() == [str(n) for n in range(80, 100)]


async def test_a_line_of_five_megabytes_is_one_line(start: Start) -> None:
    process = await start("print(json.dumps({'text': 'x' * 5_000_000}), flush=True)")
    (line,) = await everything(process)
    assert isinstance(line, JsonLine)
    assert len(line.value["text"]) == 5_000_000


async def test_what_is_no_json_object_is_reported_and_the_rest_is_read(start: Start) -> None:
    process = await start("""
        sys.stdout.buffer.write(b'oh\\xff no\\n\\n[1]\\n' + b'[' * 100_000 + b'\\n')
        sys.stdout.buffer.write(b'{"text": "\\xff"}\\n{"last": 1}')
    """)
    *strange, text, last = await everything(process)
    assert [type(line) for line in strange] == [InvalidLine] * 3
    assert strange[0] == InvalidLine("not JSON", "oh� no")
    assert (text, last) == (JsonLine({"text": "�"}), JsonLine({"last": 1}))


async def test_a_last_line_that_death_cut_off_is_no_complaint(start: Start) -> None:
    process = await start("""print('{"n": 1}\\n{"n": ', end='', flush=True)""")
    assert await everything(process) == [JsonLine({"n": 1})]


async def test_a_flood_waits_for_its_reader(start: Start, tmp_path: Path) -> None:
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
    await becomes(written.exists)

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
        assert await everything(process) == [JsonLine({"n": 1})]
    assert process.returncode == 0


async def test_an_end_that_takes_its_time_is_waited_for_and_told(start: Start) -> None:
    process = await start("os.close(1); time.sleep(1); sys.exit('no idea')")
    assert await everything(process) == []
    await process.wait_settled()
    assert process.describe_exit("It").startswith("It ended unexpectedly (exit code 1).")
    assert process.describe_exit("It").endswith("Last output: no idea")


async def test_a_program_that_closes_stdout_and_lives_counts_as_silent(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend_process, "_EXIT_TIMEOUT", 0.1)
    process = await start("os.close(1); os.close(2); time.sleep(60)")
    assert await everything(process) == []
    await process.wait_settled()
    assert process.describe_exit("It").startswith("It stopped responding.")


async def test_closing_ends_what_ignores_sigterm_within_the_promised_time(start: Start) -> None:
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
    assert all(map(lives, pids))
    await process.close()
    await becomes(lambda: not any(map(lives, pids)))


async def test_closing_an_obedient_program_is_quick_and_ends_its_leftovers(
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
    await becomes(lambda: not lives(said.value["pid"]))


async def test_killing_waits_for_nothing(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    for patience in ("CLOSE_TIMEOUT", "TERM_TIMEOUT"):
        monkeypatch.setattr(backend_process, patience, 2 * PATIENCE)
    process = await start("signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)")
    async with asyncio.timeout(PATIENCE):
        await process.kill()
    assert process.returncode == -9


async def test_closing_twice_and_at_once_is_harmless(start: Start) -> None:
    process = await start("sys.stdin.read()")
    await asyncio.gather(process.close(), process.close(), process.kill())
    await process.close()


async def test_writing_to_a_dead_program_is_a_sentence(start: Start) -> None:
    process = await start("")
    await everything(process)
    with pytest.raises(SpinneyError, match="no longer accepts input"):
        for _ in range(3):
            await process.write({"text": "x" * 100_000})


async def test_a_missing_program_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SpinneyError, match="could not be started") as raised:
        await AgentProcess.start([str(tmp_path / "nothing")], tmp_path, {})
    assert raised.value.error_type == "backend_unavailable"


async def test_a_missing_directory_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SpinneyError, match="directory is missing"):
        await AgentProcess.start([sys.executable], tmp_path / "gone", {})


async def test_no_descriptor_is_lost(start: Start, tmp_path: Path) -> None:
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
    await becomes(lambda: open_files() <= before)


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
