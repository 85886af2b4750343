"""The commands of the command line: name, options, notes and examples of each."""
