"""The server for remote clients: commands, state and events over HTTP and WebSocket."""
