"""What agents use, and the limits of their accounts."""

from model.api.command import command
from model.domain.usage import AccountLimits


@command
async def list_usage_limits() -> list[AccountLimits]:
    """List the usage windows of all accounts as their agents last reported them.

    An account is an agent with a provider profile. Programs report windows of subscriptions only,
    and with their answers: those of an account that was not used for a while may have been reset.
    """
