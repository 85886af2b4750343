"""Full screens of what is at a hosting service: a pull request, and work to begin from."""
