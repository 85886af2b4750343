"""What `spinney doctor` finds about the channels of notices."""

from model.base.errors import SpinneyError
from model.base.instance import find_running_instance
from model.base.paths import Directories
from model.base.text import clean_line
from model.cli.quick_call import request_here
from model.domain.findings import Finding
from model.preferences.file import read_preferences

_NAME = "notices"
_TEST = "spinney notify --test"


def check_channels(directories: Directories) -> list[Finding]:
    """Ask the running Spinney which channels fail; without one, say which are set up.

    How the last notices went is known only to the process that sent them.
    """
    try:
        if find_running_instance(directories.lock) is not None:
            return _ask_running()
    except SpinneyError as error:
        return [Finding(_NAME, None, "the running Spinney was not asked", error.message)]
    preferences, _ = read_preferences(directories.preferences)
    channels = {
        "Command": preferences.notify_command,
        "Apprise": preferences.notify_urls,
        "ntfy": preferences.notify_ntfy_url,
    }
    ready = [label for label, value in channels.items() if value]
    if not ready:
        return []
    remedy = f"Whether they work is known while Spinney runs. Try them then: {_TEST}"
    return [Finding(_NAME, None, f"set up: {', '.join(ready)}", remedy)]


def _ask_running() -> list[Finding]:
    channels = [each for each in request_here("list_notice_channels") if each["is_ready"]]
    failing = [
        Finding(
            _NAME, False, f"{each['label']} fails: {clean_line(each['problem'])}",
            f"Correct it in the preferences, under Away, and try it: {_TEST}", _TEST,
        )
        for each in channels if each["problem"]
    ]  # fmt: skip
    labels = ", ".join(each["label"] for each in channels)
    return failing or [Finding(_NAME, True, f"no channel fails: {labels}")]
