"""The commands as clients see them: signatures, argument types and result types."""
