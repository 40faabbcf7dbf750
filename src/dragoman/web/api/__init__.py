"""The HTTP API: handlers, request and response types, errors, and the OpenAPI document."""
