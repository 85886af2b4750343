"""The agent programs: one small language for all, one file for each."""
