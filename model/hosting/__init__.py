"""The hosting service: pull requests and their checks, through its own program `gh`."""
