"""Paused sessions: limits and budgets at which they wait, and the timer that lets them go on."""
