"""The data model: frozen resources and the events that change them."""
