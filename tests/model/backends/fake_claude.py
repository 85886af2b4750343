"""A program in the place of `claude`: it plays prepared lines, and writes down what it hears.

`script.json` beside it holds a list of turns; a turn is a list of lines to say, in which the word
`"hear"` waits for our next line; `"die"`, `"complain"` and `"babble"` are faults. The conversation
"s-1" stands for the one of its arguments. `heard.jsonl` gets its arguments first, then each line
it heard.
"""

import json
import sys
import time
from pathlib import Path

HERE = Path(sys.argv[0]).parent
SCRIPT = json.loads((HERE / "script.json").read_text())
OPTIONS = dict(zip(sys.argv, [*sys.argv[1:], ""], strict=True))
CONVERSATION = OPTIONS.get("--session-id") or OPTIONS.get("--resume")


def note(value: object) -> None:
    with (HERE / "heard.jsonl").open("a") as heard:
        heard.write(json.dumps(value) + "\n")


def say(value: dict) -> None:
    if value.get("session_id") == "s-1":
        value = {**value, "session_id": CONVERSATION}
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def hear() -> dict:
    """Our next line that is no setting; settings are answered at once."""
    for line in sys.stdin:
        value = json.loads(line)
        note(value)
        if value["type"] == "control_request" and value["request"]["subtype"] != "interrupt":
            refused = value["request"]["subtype"] == SCRIPT.get("refuses")
            done = {"subtype": "error" if refused else "success", "error": "not today"}
            done["request_id"] = value["request_id"]
            say({"type": "control_response", "response": done})
        else:
            return value
    sys.exit(0)


def main() -> None:
    note(sys.argv[1:])
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
        hear()
        for line in turn:
            if line == "hear":
                hear()
            elif line == "die":
                sys.exit(3)
            elif line == "complain":
                sys.exit("no disk left")
            elif line == "babble":
                sys.stdout.write("<html>\n")
            else:
                say(line)
    hear()


main()
