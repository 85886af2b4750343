"""The transcript: a widget that draws a session's messages line by line."""
