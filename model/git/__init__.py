"""Everything that asks git or changes a repository."""
