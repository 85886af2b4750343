"""Hosting services and issue trackers: pull requests, checks, issues, alerts.

`forge.py` is what the rest of Spinney knows of a service; there is one folder for each.
"""
