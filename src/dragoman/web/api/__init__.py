"""The HTTP API: handlers, shapes, errors and its OpenAPI document."""
