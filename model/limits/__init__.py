"""Paused sessions: why they wait, when they go on, and the timer that lets them."""
