"""The transcript: one widget that draws a session's messages as lines."""
