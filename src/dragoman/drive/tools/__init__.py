"""Python functions as tools that a model can call."""
