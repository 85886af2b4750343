"""Implements `model.api.usage`."""

from typing import TYPE_CHECKING

from model.api import usage as api
from model.commands.registry import implements
from model.domain.usage import AccountLimits

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.list_usage_limits)
async def list_usage_limits(workspace: "Workspace") -> list[AccountLimits]:
    return workspace.usage.limits.list()
