"""The channels besides Spinney's own screens, one file for each."""
