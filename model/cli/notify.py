"""`spinney notify`: what waits for you now, and a test of the channels that would report you."""

import time
from argparse import Namespace

from model.base.amounts import format_age
from model.base.standard_streams import write_json, write_output
from model.base.text import clean_line
from model.cli.quick_call import request_here


def notify(options: Namespace) -> int:
    """List the standing notices, or send a test notice; returns the exit code."""
    if options.test or options.channel:
        return _test(options)
    notices = request_here("list_notices")
    if options.json:
        write_json(notices)
        return 0
    now = time.time()
    for notice in notices:
        age = format_age(notice["created_at"], now)
        text = f": {clean_line(notice['text'])}" if notice["text"] else ""
        write_output(f"{age:>4}  {clean_line(notice['title'])}{text}\n")
    if not notices:
        write_output("Nothing waits for you.\n")
    return 0


def _test(options: Namespace) -> int:
    channel = {"channel": options.channel} if options.channel else {}
    results = request_here("test_notice", **channel)
    if options.json:
        write_json(results)
    else:
        write_output("".join(f"{clean_line(result['detail'])}\n" for result in results))
    return 0 if all(result["ok"] for result in results) else 1
