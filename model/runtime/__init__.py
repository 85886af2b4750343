"""A running Spinney: the workspace, the core thread, how agents are launched, the doctor."""
