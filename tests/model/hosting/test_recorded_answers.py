"""Recorded output of the real `gh`, for the same cases as the live tests."""

import json
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.hosting.github.pull_requests import fetch_pull_request_state
from tests.live.hosting_cases import (
    API_CASES,
    API_RECORDING,
    RECORDING,
    STATES,
    TROUBLES,
    URL,
    check_api_case,
)
from tests.model.hosting.conftest import FakeGh

RECORDED = json.loads(RECORDING.read_text())
RECORDED_API = json.loads(API_RECORDING.read_text())


def replay(gh: FakeGh, name: str) -> None:
    answer = RECORDED[name]
    gh.set_result(
        " ".join(answer["args"][:2]), answer["out"], err=answer["err"], code=answer["code"]
    )


def test_every_case_was_recorded() -> None:
    assert RECORDED.keys() == STATES.keys() | TROUBLES.keys()
    assert RECORDED_API.keys() == API_CASES.keys()


@pytest.mark.parametrize("name", STATES)
async def test_recorded_states_are_parsed(fake_gh: FakeGh, tmp_path: Path, name: str) -> None:
    replay(fake_gh, name)
    found = await fetch_pull_request_state(tmp_path, URL)
    assert (found.status, found.checks) == (STATES[name].status, STATES[name].checks)
    assert fake_gh.calls[0]["args"] == RECORDED[name]["args"]


@pytest.mark.parametrize("name", TROUBLES)
async def test_recorded_errors_are_explained(fake_gh: FakeGh, tmp_path: Path, name: str) -> None:
    replay(fake_gh, name)
    with pytest.raises(SpinneyError) as refused:
        await fetch_pull_request_state(tmp_path, URL)
    assert refused.value.message.startswith(TROUBLES[name].sentence)
    assert refused.value.error_type == TROUBLES[name].kind


@pytest.mark.parametrize("name", API_CASES)
async def test_recorded_details_are_parsed(fake_gh: FakeGh, tmp_path: Path, name: str) -> None:
    for answer in RECORDED_API[name]:
        fake_gh.set_result(answer["asked"], answer["out"], err=answer["err"], code=answer["code"])
    await check_api_case(API_CASES[name], tmp_path)
    assert [call["args"] for call in fake_gh.calls] == [one["args"] for one in RECORDED_API[name]]
