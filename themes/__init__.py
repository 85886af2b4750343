"""Colors: one TOML file per syntax theme and per chrome, and the loader that reads them."""
