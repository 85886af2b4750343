"""The backend for agents that speak the Agent Client Protocol."""
