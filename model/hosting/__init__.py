"""The hosting service: pull requests and their checks, by way of its own program."""
