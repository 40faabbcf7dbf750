"""Says hello, not yet as politely as its test wants it."""


def greet(name: str) -> str:
    return "Hello " + name
