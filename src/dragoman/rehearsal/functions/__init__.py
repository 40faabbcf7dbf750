"""Steps as calls of functions, for the APIs whose tools are functions with a JSON schema."""
