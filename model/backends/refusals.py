"""What to do when a provider refuses a request, which all agent programs have in common."""

from typing import Final

GO_BACK: Final = (
    "If others are refused as well, it is the conversation that is refused, for what is in it: "
    "rewind it by undoing its last turns, or fork the session at an earlier turn."
)
"""A provider may refuse a conversation for good, such as for a picture in it that is too large."""

REFUSED: Final = f"The provider refused the request. Change the message. {GO_BACK}"
