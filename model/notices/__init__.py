"""Notices: what is worth a word to a person who is elsewhere, and the channels that carry it.

`watcher` decides which notices stand, from the state and the events. `dispatcher` decides which
channel carries one now: not in quiet hours, not while a client shows the session, never twice.
`delivery` sends, and tries again.
"""
