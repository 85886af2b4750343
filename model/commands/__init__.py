"""Every operation under its wire name, one file per area."""
