"""The commands as clients see them: signatures, argument and result types, no implementation."""
