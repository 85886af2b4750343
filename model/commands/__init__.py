"""The implementations of the commands that `model.api` declares, one file per area."""
