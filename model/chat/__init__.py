"""A session's life: turns, the queue, plans, questions and permissions."""
