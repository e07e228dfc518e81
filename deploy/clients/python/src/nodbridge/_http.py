"""One HTTP/1.1 call on one connection. It never follows a redirect."""

from __future__ import annotations

import base64
import io
import socket
import ssl
import time
from http.client import HTTPException, HTTPResponse
from ipaddress import ip_address
from typing import Any, Dict, List, NamedTuple, Optional
from urllib.parse import SplitResult, quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from ._errors import NodError

MAX_BODY = 256 << 20  # a page of the largest records
_CHUNK = 64 << 10
_ONE_ADDRESS = 2.0  # seconds for an address that is not the last one


class Lost(Exception):
    """The connection failed before the complete response arrived. Such calls may be repeated."""


class Reply(NamedTuple):
    """A complete response."""

    status: int
    headers: Dict[str, str]
    body: bytes


class Address:
    """The address of a daemon, and the proxy in front of it."""

    def __init__(self, url: str) -> None:
        url = url.strip().rstrip("/")
        try:
            parts = urlsplit(url)
            port, self.host = parts.port, unquote(parts.hostname or "")
            bare = self.host.partition("%")[0]  # the zone of an address has a meaning only here
            bare = "[%s]" % bare if ":" in bare else bare.encode("idna").decode()
        except ValueError:
            parts, port, bare = urlsplit(""), None, ""
        if parts.scheme not in ("http", "https") or not bare or parts.username is not None or set("?#") & set(url):
            hint = "set NOD_URL to a URL such as http://127.0.0.1:8787, without a user, a query and a fragment"
            raise NodError("invalid", "invalid daemon URL", hint)
        self.tls = parts.scheme == "https"
        self.port = port if port is not None else 443 if self.tls else 80
        self.name = bare if port is None else "%s:%d" % (bare, port)
        self.at = "%s:%d" % (bare, self.port)
        self.path = quote(parts.path, safe="/%:@!$&'()*+,;=~")
        self.proxy = _proxy(parts.scheme, self.host, self.at)
        self.pass_on: List[str] = []
        if self.proxy and self.proxy.username is not None:
            secret = unquote("%s:%s" % (self.proxy.username, self.proxy.password or ""))
            self.pass_on = ["Proxy-Authorization: Basic " + base64.b64encode(secret.encode()).decode()]

    def message(self, method: str, target: str, headers: Dict[str, str], body: Optional[bytes]) -> bytes:
        """Return the bytes of a request."""
        passed = self.proxy and not self.tls
        lines = ["%s %s%s%s HTTP/1.1" % (method, "http://" + self.name if passed else "", self.path, target)]
        lines += ["Host: " + self.name, "Connection: close", "Accept-Encoding: identity"]
        lines += self.pass_on if passed else []
        lines += ["%s: %s" % pair for pair in headers.items()]
        if body is not None:
            lines += ["Content-Type: application/json", "Content-Length: %d" % len(body)]
        elif method != "GET":
            lines.append("Content-Length: 0")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + (body or b"")


def _proxy(scheme: str, host: str, at: str) -> Optional[SplitResult]:
    """Return the proxy that the environment names. A daemon on this machine needs none."""
    url = getproxies().get(scheme)
    try:
        local = ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        local = host == "localhost"
    if not url or local or proxy_bypass(at):
        return None
    parts = urlsplit(url if "://" in url else "http://" + url)
    if parts.scheme != "http" or not parts.hostname:
        hint = "name one with http://, or add the host of NOD_URL to NO_PROXY"
        raise NodError("invalid", "the proxy in %s_PROXY is not supported" % scheme.upper(), hint)
    return parts


class Line:
    """The connection of a call. Another thread can end it."""

    def __init__(self) -> None:
        self.ended = False
        self._held: List[socket.socket] = []

    def hold(self, connection: Any) -> Any:
        """Keep a connection."""
        self._held.append(connection)
        return connection

    def end(self) -> None:
        """End the call, if it is not over."""
        self.ended = True
        for connection in self._held:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it is closed, or not yet open


class _Stream(io.RawIOBase):
    """What a connection brings until a time, up to the size of the longest response."""

    def __init__(self, connection: socket.socket, end: float) -> None:
        self.connection, self.end, self.room = connection, end, MAX_BODY + _CHUNK

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return the file that a response reads."""
        return io.BufferedReader(self, _CHUNK)

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        self.connection.settimeout(_left(self.end))
        count = self.connection.recv_into(into)
        self.room -= count
        if self.room < 0:
            raise Lost("the response is too long")
        return count


def call(address: Address, message: bytes, limit: float, context: Optional[ssl.SSLContext], line: Line) -> Reply:
    """Make one call that takes at most ``limit`` seconds."""
    end = time.monotonic() + limit
    try:
        with _connect(address, end, context, line) as connection:
            if line.ended:
                raise Lost("the caller has given up")
            try:
                connection.sendall(message)
            except OSError:
                pass  # the response may be there already, such as that the message is too long
            response = _begun(connection, end, "")
            headers = {name.lower(): value for name, value in response.getheaders()}
            if headers.get("content-encoding", "identity") + headers.get("transfer-encoding", "chunked") != "identitychunked":
                raise Lost("the response has an unknown encoding")
            if (response.length or 0) > MAX_BODY:
                raise Lost("the response is too long")
            return Reply(response.status, headers, response.read())
    except OSError as error:
        raise Lost(_words(error)) from None
    except HTTPException:
        raise Lost("the response is not HTTP, or not complete") from None


def _begun(connection: socket.socket, end: float, method: str) -> HTTPResponse:
    """Return a response whose head has arrived."""
    stream: Any = _Stream(connection, end)
    response = HTTPResponse(stream, method=method)
    response.begin()
    while response.status in (102, 103):  # the real response follows
        response.headers = None  # type: ignore[assignment]
        response.begin()
    return response


def _connect(address: Address, end: float, context: Optional[ssl.SSLContext], line: Line) -> socket.socket:
    """Connect to the first address of a name that accepts, as soon as the one before it seems dead."""
    proxy = address.proxy
    host, port = (proxy.hostname, proxy.port or 80) if proxy else (address.host, address.port)
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for n, (family, kind, protocol, _, at) in enumerate(found):
        last = n == len(found) - 1
        raw = line.hold(socket.socket(family, kind, protocol))
        try:
            raw.settimeout(_left(end) if last else min(_left(end), _ONE_ADDRESS))
            raw.connect(at)
            raw.settimeout(_left(end))
            if address.tls and proxy:
                _tunnel(address, raw, end)
            if address.tls and context:
                raw = line.hold(context.wrap_socket(raw, server_hostname=address.host.partition("%")[0]))
            return raw
        except OSError:
            raw.close()
            if last:
                raise
        except BaseException:
            raw.close()
            raise
    raise Lost("unknown host %s" % host)


def _tunnel(address: Address, raw: socket.socket, end: float) -> None:
    """Let a proxy connect to the daemon."""
    lines = ["CONNECT %s HTTP/1.1" % address.at, "Host: " + address.at, *address.pass_on, "", ""]
    raw.sendall("\r\n".join(lines).encode("latin-1"))
    status = _begun(raw, end, "CONNECT").status
    if status != 200 and address.proxy:
        raise Lost("the proxy %s in HTTPS_PROXY reports status %d" % (address.proxy.hostname, status))


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
