"""What agents use, and the limits of their accounts."""

from tests.contract.conftest import Call


async def test_no_limits_are_listed_before_an_agent_reported_any(call: Call) -> None:
    assert await call("list_usage_limits") == []
