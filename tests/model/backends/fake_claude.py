"""A stub for `claude`: plays prepared lines and records what it receives.

`script.json` beside it holds a list of turns. A turn is a list of lines to write; the word
`"receive"` in it waits for the next line of input, and `"die"`, `"complain"` and `"babble"` are
faults. The session id "s-1" is replaced by that of the arguments. `received.jsonl` gets the
arguments first, then each line of input.
"""

import json
import sys
import time
from pathlib import Path

HERE = Path(sys.argv[0]).parent
SCRIPT = json.loads((HERE / "script.json").read_text())
OPTIONS = dict(zip(sys.argv, [*sys.argv[1:], ""], strict=True))
CONVERSATION = OPTIONS.get("--session-id") or OPTIONS.get("--resume")


def record(value: object) -> None:
    with (HERE / "received.jsonl").open("a") as file:
        file.write(json.dumps(value) + "\n")


def say(value: dict) -> None:
    if value.get("session_id") == "s-1":
        value = {**value, "session_id": CONVERSATION}
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def receive() -> dict:
    """The next line of input that is not a setting; settings are confirmed immediately."""
    for line in sys.stdin:
        value = json.loads(line)
        record(value)
        if value["type"] == "control_request" and value["request"]["subtype"] != "interrupt":
            refused = value["request"]["subtype"] == SCRIPT.get("refuses")
            done = {"subtype": "error" if refused else "success", "error": "not today"}
            done["request_id"] = value["request_id"]
            say({"type": "control_response", "response": done})
        else:
            return value
    sys.exit(0)


def main() -> None:
    record(sys.argv[1:])
    if "--resume" in sys.argv and SCRIPT.get("lost"):
        sys.stderr.write("No conversation found with session ID: x\n")
        sys.exit(1)
    if SCRIPT.get("hangs"):
        time.sleep(60)
    if SCRIPT.get("quits"):
        sys.exit(7)
    if SCRIPT.get("broken"):
        sys.stderr.write(SCRIPT["broken"] + "\n")
        sys.exit(1)
    for turn in SCRIPT["turns"]:
        receive()
        for line in turn:
            if line == "receive":
                receive()
            elif line == "die":
                sys.exit(3)
            elif line == "complain":
                sys.exit("no disk left")
            elif line == "babble":
                sys.stdout.write("<html>\n")
            else:
                say(line)
    receive()


main()
