"""`python -m tests.journeys --minutes N [--seed S] [terminal|page]`, or `--replay FILE`."""

import argparse
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from tests.journeys.runs import replay, run, run_in_order
from tests.patience import PATIENCE

parser = argparse.ArgumentParser(prog="python -m tests.journeys", description=__doc__)
parser.add_argument("interface", nargs="?", choices=["terminal", "page"], default="terminal")
parser.add_argument("--minutes", type=float, default=float("inf"), help="default: until stopped")
parser.add_argument(
    "--in-order", action="store_true", help="first take each step once, in the order of the table"
)
parser.add_argument("--seed", type=int, help="seed of the first journey; each next one adds 1")
parser.add_argument("--steps", type=int, default=40, help="most steps of a journey")
parser.add_argument(
    "--patience", type=float, default=PATIENCE, help="seconds to wait for anything to be drawn"
)
parser.add_argument("--replay", type=Path, metavar="FILE", help="replay the steps in this file")
parser.add_argument(
    "--source", type=Path, metavar="DIR", help="test the checkout in DIR, which must have a .venv"
)
options = parser.parse_args()

if not __debug__:
    parser.error("the journeys check by assertions, which PYTHONOPTIMIZE leaves out")
if options.source is not None:
    os.environ["JOURNEY_SOURCE"] = str(options.source)
# On SIGTERM, the processes that were started are stopped as well.
signal.signal(signal.SIGTERM, signal.default_int_handler)
if options.replay is not None:
    replay(options.interface, json.loads(options.replay.read_text()), options.patience)
    sys.exit(0)
seed = random.randrange(10**6) if options.seed is None else options.seed
end = time.monotonic() + 60 * options.minutes
failures = 0
try:
    if options.in_order:
        failures += not run_in_order(options.interface, seed, options.patience)
    while time.monotonic() < end:
        failures += not run(options.interface, seed, steps=options.steps, patience=options.patience)
        seed += 1
except KeyboardInterrupt:
    print(f"stopped in the journey of seed {seed}", file=sys.stderr)
sys.exit(1 if failures else 0)
