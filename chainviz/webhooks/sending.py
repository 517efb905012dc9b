"""Send one signed message as Standard Webhooks describes: to a public address only, without following redirects.

The name is resolved once and the connection goes to that very address: a name whose answer changes between the check and
the connection leads nowhere else.
"""

from __future__ import annotations

import base64
import hmac
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from threading import Timer
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from chainviz.core.errors import Refused

SECONDS = 10
"""The seconds for one attempt as a whole, however slowly the server answers."""
IPAddress = IPv4Address | IPv6Address
TRANSLATED = ip_network("64:ff9b::/96")
"""IPv6 addresses that a gateway turns into the IPv4 address in their last four bytes."""


def post_signed(url: str, key: bytes, message_id: str, body: str) -> int:
    """Send the message and return the HTTP status. Raises Refused with a sentence if it could not be sent."""
    parts = check_address(url)
    address = resolve(parts)
    content, now = body.encode(), int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "chainviz",
        "webhook-id": message_id,
        "webhook-timestamp": str(now),
        "webhook-signature": sign(key, message_id, now, content),
    }
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        with _connected(parts, address) as connection:
            connection.request("POST", path, content, headers)
            return connection.getresponse().status
    except ssl.SSLCertVerificationError as error:
        raise Refused(f"The certificate is not valid: {error.verify_message}.") from None
    except (OSError, HTTPException) as error:
        raise Refused(f"The server did not answer ({type(error).__name__}).") from None


def sign(key: bytes, message_id: str, timestamp: int, content: bytes) -> str:
    """Return the value of `webhook-signature`."""
    signed = f"{message_id}.{timestamp}.".encode() + content
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()


def check_address(url: str) -> SplitResult:
    """Return the parts of an address that can be a webhook's. Raises Refused for any other."""
    try:
        parts = urlsplit(url)
        _ = parts.port
        parts.hostname and parts.hostname.encode("idna")
    except ValueError:  # UnicodeError is one
        raise Refused("This is not a web address.") from None
    if parts.scheme not in {"https", "http"} or not parts.hostname:
        raise Refused("Enter an address that begins with https://.")
    if parts.username is not None or parts.password is not None:
        raise Refused("The address must not contain a user name or password.")
    if any(not 32 < ord(sign) < 127 for sign in url):
        raise Refused("Encode spaces and other special characters of the address.")
    return parts


def resolve(parts: SplitResult) -> IPAddress:
    """Return the address to connect to. Raises Refused unless each address of the name may be reached."""
    host = parts.hostname or ""
    try:
        answers = socket.getaddrinfo(host, _port(parts), type=socket.SOCK_STREAM)
        found = [ip_address(str(answer[4][0]).partition("%")[0]) for answer in answers]
    except (OSError, ValueError, UnicodeError):
        raise Refused(f"The name {host} cannot be resolved.") from None
    private = [address for address in found if not is_public(address)]
    if any(not _is_allowed(address) for address in private):
        raise Refused("The address leads into a private network. CHAINVIZ_WEBHOOK_NETWORKS can allow it.")
    if parts.scheme == "http" and not private:
        raise Refused("Use https:// outside your own network.")
    return found[0]


def is_public(address: IPAddress) -> bool:
    """Return True for an address of the public internet. An IPv6 address that contains an IPv4 address is judged by that one."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if address in TRANSLATED:
            inner = IPv4Address(address.packed[-4:])
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast


def _is_allowed(address: IPAddress) -> bool:
    return any(address in network for network in settings.CHAINVIZ.webhook_network_list)


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


@contextmanager
def _connected(parts: SplitResult, address: IPAddress) -> Iterator[HTTPConnection]:
    """Connect to the address. A timer ends the connection, since a server that sends byte after byte never times out."""
    host, port = parts.hostname or "", _port(parts)
    connection = HTTPSConnection(host, port) if parts.scheme == "https" else HTTPConnection(host, port)
    connection.sock = socket.create_connection((str(address), port), timeout=SECONDS)
    timer = Timer(SECONDS, _shut_down, (connection,))
    timer.daemon = True
    timer.start()
    try:
        if parts.scheme == "https":
            context = ssl.create_default_context()
            connection.sock = context.wrap_socket(connection.sock, server_hostname=host, do_handshake_on_connect=False)
            connection.sock.do_handshake()
        yield connection
    finally:
        timer.cancel()
        connection.close()


def _shut_down(connection: HTTPConnection) -> None:
    with suppress(OSError):
        connection.sock.shutdown(socket.SHUT_RDWR)
