"""Clients of the model, in this process or on another machine."""
