"""A small server for the tests of the link: it does what the path of a request says.

``python http_server.py MODE`` prints its address like a real one. Each request is answered with what the server saw;
``/event`` is a stream of events.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys

_opened = 0


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    global _opened
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    if path == "/echo":
        seen = {
            "method": method,
            "authorization": headers.get("authorization"),
            "password": os.environ["SERVER_PASSWORD"],
            "body": json.loads(body) if body else None,
            "argv": sys.argv,
        }
        _answer(writer, 200, json.dumps(seen, indent=1).encode())
    elif path == "/missing":
        _answer(writer, 404, b'{"name": "NotFoundError"}')
    elif path == "/text":
        _answer(writer, 200, b"not json")
    elif path == "/long":
        _answer(writer, 200, b'"' + b"x" * 5000 + b'"')
    elif path == "/nonsense":
        writer.write(b"what?\r\n\r\n")
    elif path == "/silent":
        await asyncio.sleep(1000)
    elif path == "/die":
        os._exit(3)
    elif path.startswith("/event"):
        _opened += 1
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        writer.write(f'data: {{"type": "server.connected", "time": {_opened}}}\n\n'.encode())
        await writer.drain()
        if path == "/event/stays" or (path == "/event/breaks-once" and _opened > 1):
            await asyncio.sleep(1000)
        if path == "/event/never-again" and _opened == 1:
            server.close()
    writer.close()


def _answer(writer: asyncio.StreamWriter, status: int, body: bytes) -> None:
    head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def main(mode: str) -> None:
    global server
    if mode == "fails":
        sys.stderr.write("no such model\n")
        sys.exit(7)
    if mode == "mute":
        await asyncio.sleep(1000)
    if mode == "elsewhere":
        _say("listening on http://192.0.2.1:80")
        await asyncio.sleep(1000)
    server = await asyncio.start_server(_serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    _say("Warning: something else")
    _say(f"listening on http://127.0.0.1:{port}")
    await asyncio.sleep(1000)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
