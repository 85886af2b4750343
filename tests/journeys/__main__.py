"""`python -m tests.journeys --minutes N [--seed S] [terminal|page]`, or `--replay FILE`."""

import argparse
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from tests.journeys.runs import replay, run
from tests.patience import PATIENCE

parser = argparse.ArgumentParser(prog="python -m tests.journeys", description=__doc__)
parser.add_argument("face", nargs="?", choices=["terminal", "page"], default="terminal")
parser.add_argument("--minutes", type=float, default=float("inf"), help="absent: until stopped")
parser.add_argument(
    "--seed", type=int, help="of the first journey; a new one for each that follows"
)
parser.add_argument("--steps", type=int, default=40, help="the longest journey")
parser.add_argument(
    "--patience", type=float, default=PATIENCE, help="seconds that anything may take to be drawn"
)
parser.add_argument("--replay", type=Path, metavar="FILE", help="walk the steps of this file")
parser.add_argument(
    "--source", type=Path, metavar="DIR", help="walk the checkout there, which has a .venv"
)
options = parser.parse_args()

if options.source is not None:
    os.environ["JOURNEY_SOURCE"] = str(options.source)
# Ended from outside, it still ends what it has started.
signal.signal(signal.SIGTERM, signal.default_int_handler)
if options.replay is not None:
    replay(options.face, json.loads(options.replay.read_text()), options.patience)
    sys.exit(0)
seed = random.randrange(10**6) if options.seed is None else options.seed
end = time.monotonic() + 60 * options.minutes
found = 0
try:
    while time.monotonic() < end:
        found += not run(options.face, seed, steps=options.steps, patience=options.patience)
        seed += 1
except KeyboardInterrupt:
    print(f"stopped in the journey of seed {seed}", file=sys.stderr)
sys.exit(1 if found else 0)
