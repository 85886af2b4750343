"""What every other room stands on: errors, foreign text, paths, the log, the instance lock."""
