"""One HTTP/1.1 call on one connection. It never follows a redirect.

The parser reads no socket, so the client with and the client without asyncio
share it.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from typing import Any, Dict, List, Optional
from urllib.parse import urlsplit

from ._errors import NodError, Unexpected

MAX_HEAD = 64 << 10
MAX_BODY = 256 << 20  # a page of the largest records
_CHUNK = 64 << 10
_ONE_ADDRESS = 2.0  # seconds for an address that is not the last one


class Lost(Exception):
    """The connection failed before the complete response arrived. Such calls may be repeated."""


class Reply:
    """A response, which grows with ``feed`` until ``done``."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: Dict[str, str] = {}
        self.body = b""
        self.done = False
        self._data = bytearray()
        self._parts: List[bytes] = []
        self._size = 0
        self._length: Optional[int] = None
        self._chunked = False

    def feed(self, data: bytes) -> None:
        """Take bytes from the connection."""
        self._data += data
        while not self.status and not self.done:
            if not self._head():
                return
        if self._chunked:
            while not self.done and self._next_chunk():
                pass
        else:
            self._take(len(self._data))
            if self._length is not None and self._size >= self._length:
                self._finish()

    def eof(self) -> None:
        """Take the end of the connection."""
        if not self.done and (not self.status or self._chunked or self._length is not None):
            raise Lost("the connection was closed")
        self._finish()

    def _head(self) -> bool:
        end = self._data.find(b"\r\n\r\n")
        long = end > MAX_HEAD or (end < 0 and len(self._data) > MAX_HEAD)
        if long or not b"HTTP/1.".startswith(bytes(self._data[:7])):
            raise Lost("the response is not HTTP")
        if end < 0:
            return False
        first, *lines = bytes(self._data[:end]).decode("latin-1").split("\r\n")
        del self._data[: end + 4]
        status = first.split(" ")[1:2]
        if not status or not status[0].isdigit() or len(status[0]) != 3:
            raise Lost("the response is not HTTP")
        headers: Dict[str, str] = {}
        for line in lines:
            name, colon, value = line.partition(":")
            name = name.lower()
            if not colon or (name in ("content-length", "transfer-encoding") and name in headers):
                raise Lost("the response has an invalid header")
            headers[name] = headers[name] + ", " + value.strip() if name in headers else value.strip()
        if 100 <= int(status[0]) < 200 and status[0] != "101":
            return True  # the real response follows
        self.status, self.headers = int(status[0]), headers
        self._framing(headers)
        return True

    def _framing(self, headers: Dict[str, str]) -> None:
        length = headers.get("content-length")
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise Lost("the response is compressed")
        if "transfer-encoding" in headers:
            self._chunked = headers["transfer-encoding"].lower() == "chunked"
            if not self._chunked or length is not None:
                raise Lost("the response has an unknown transfer encoding")
        elif self.status in (204, 304):
            self._length = 0
        elif length is not None:
            if not (length.isascii() and length.isdigit()):
                raise Lost("the response has an invalid length")
            self._length = int(length)

    def _take(self, count: int) -> None:
        self._parts.append(bytes(self._data[:count]))
        self._size += count
        del self._data[:count]
        if self._size > MAX_BODY:
            raise Unexpected("the response is too long")

    def _next_chunk(self) -> bool:
        end = self._data.find(b"\r\n")
        if end < 0:
            if len(self._data) > 1024:
                raise Lost("the response has an invalid chunk")
            return False
        digits = bytes(self._data[:end]).split(b";")[0].strip()
        try:
            size = int(digits, 16)
        except ValueError:
            size = -1
        if size < 0 or not digits.isalnum() or size > MAX_BODY:
            raise Lost("the response has an invalid chunk")
        if size == 0:
            self._finish()  # trailers have no meaning here
            return False
        if len(self._data) < end + 2 + size + 2:
            return False
        del self._data[: end + 2]
        self._take(size)
        if self._data[:2] != b"\r\n":
            raise Lost("the response has an invalid chunk")
        del self._data[:2]
        return True

    def _finish(self) -> None:
        self.body = b"".join(self._parts)
        if self._length is not None:
            self.body = self.body[: self._length]
        self.done = True


class Address:
    """The address of a daemon."""

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url.rstrip("/"))
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        more = parts.username is not None or parts.query or parts.fragment
        if parts.scheme not in ("http", "https") or not parts.hostname or more:
            raise NodError("invalid", "invalid daemon URL", "set NOD_URL to a URL such as http://127.0.0.1:8787")
        self.tls = parts.scheme == "https"
        self.host = parts.hostname
        self.port = port if port is not None else 443 if self.tls else 80
        self.path = parts.path
        self.name = parts.netloc

    def message(self, method: str, target: str, headers: Dict[str, str], body: Optional[bytes]) -> bytes:
        """Return the bytes of a request."""
        lines = ["%s %s%s HTTP/1.1" % (method, self.path, target), "Host: " + self.name]
        lines += ["Connection: close", "Accept-Encoding: identity"]
        lines += ["%s: %s" % pair for pair in headers.items()]
        if body is not None:
            lines += ["Content-Type: application/json", "Content-Length: %d" % len(body)]
        elif method != "GET":
            lines.append("Content-Length: 0")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + (body or b"")


def call(address: Address, message: bytes, limit: float, context: Optional[ssl.SSLContext]) -> Reply:
    """Make one call that takes at most ``limit`` seconds."""
    end = time.monotonic() + limit
    reply = Reply()
    try:
        with _connect(address, limit, context) as connection:
            connection.settimeout(_left(end))
            connection.sendall(message)
            while not reply.done:
                connection.settimeout(_left(end))
                data = connection.recv(_CHUNK)
                reply.feed(data) if data else reply.eof()
    except OSError as error:
        raise Lost(_words(error)) from None
    return reply


def _connect(address: Address, limit: float, context: Optional[ssl.SSLContext]) -> socket.socket:
    """Connect to the first address of a name that accepts, as soon as the one before it seems dead."""
    end = time.monotonic() + limit
    found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    for n, (family, kind, protocol, _, at) in enumerate(found):
        last = n == len(found) - 1
        raw = socket.socket(family, kind, protocol)
        try:
            raw.settimeout(_left(end) if last else min(_left(end), _ONE_ADDRESS))
            raw.connect(at)
            raw.settimeout(_left(end))
            return context.wrap_socket(raw, server_hostname=address.host) if address.tls and context else raw
        except OSError:
            raw.close()
            if last:
                raise
        except BaseException:
            raw.close()
            raise
    raise Lost("unknown host " + address.host)


def _left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise socket.timeout("no response in time")
    return left


def _words(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return "its certificate is not valid: " + error.verify_message
    late = isinstance(error, socket.timeout)
    return "no response in time" if late else error.strerror or str(error) or "the connection failed"


async def call_async(address: Address, message: bytes, limit: float, context: Optional[ssl.SSLContext]) -> Reply:
    """Make one call that takes at most ``limit`` seconds."""
    # Not wait_for, which loses a cancellation before Python 3.12.
    task = asyncio.ensure_future(_converse(address, message, context))
    try:
        await asyncio.wait({task}, timeout=limit)
        if not task.done():
            raise Lost("no response in time")
        return task.result()
    except OSError as error:
        raise Lost(_words(error)) from None
    finally:
        task.cancel()


async def _converse(address: Address, message: bytes, context: Optional[ssl.SSLContext]) -> Reply:
    reply = Reply()
    reader, writer = await _open(address, context if address.tls else None)
    try:
        writer.write(message)
        await writer.drain()
        while not reply.done:
            data = await reader.read(_CHUNK)
            reply.feed(data) if data else reply.eof()
    finally:
        writer.close()
    return reply


async def _open(address: Address, tls: Optional[ssl.SSLContext]) -> Any:
    """Connect as _connect does. Not each loop has Happy Eyeballs."""
    found = await asyncio.get_running_loop().getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    for n, (family, _, _, _, at) in enumerate(found):
        last = n == len(found) - 1
        name = address.host if tls else None
        task = asyncio.ensure_future(
            asyncio.open_connection(at[0], at[1], family=family, ssl=tls, server_hostname=name)
        )
        try:
            await asyncio.wait({task}, timeout=None if last else _ONE_ADDRESS)
            if task.done():
                return task.result()
        except OSError:
            if last:
                raise
        finally:
            task.cancel()
    raise Lost("unknown host " + address.host)
