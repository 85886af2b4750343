"""The one way to the model, from this process or from afar."""
