"""GitHub, through its own program `gh`."""
