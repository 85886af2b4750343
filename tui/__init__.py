"""The terminal: screens and widgets that speak to the model only through its client."""
