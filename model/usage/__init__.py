"""What agents use: tokens and cost of each turn, and the limits of their accounts."""
