"""A running Spinney: the workspace, the core thread, agent launch settings, the doctor."""
