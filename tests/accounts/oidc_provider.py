"""An OpenID Connect provider on this machine, for tests: it signs in whoever `person` says, and can be told to lie."""

from __future__ import annotations

import base64
import hashlib
import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, build_opener

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "chainviz", "a secret of the client"
KEY = rsa.generate_private_key(65537, 2048)
OTHER_KEY = rsa.generate_private_key(65537, 2048)
Claims = dict[str, Any]


class Provider:
    def __init__(self, port: int) -> None:
        self.issuer = f"http://127.0.0.1:{port}"
        self.person: Claims = {}
        self.lie: Callable[[Claims], Claims] = lambda claims: claims
        self.sign: Callable[[Claims], str] = lambda claims: jwt.encode(claims, KEY, "RS256", {"kid": "one"})
        self.config_lies: Claims = {}
        self.userinfo: Claims = {}
        self.asked: dict[str, str] = {}
        """The last authorization request."""
        self.is_down = False

    def visit(self, url: str) -> str:
        """Opens the page that asks a person to sign in, and returns where it sends them back to."""
        opener = build_opener(_NoRedirect)
        answer = opener.open(url)
        return str(answer.headers["Location"])

    def config(self) -> Claims:
        at = self.issuer
        return {
            "issuer": at,
            "authorization_endpoint": f"{at}/authorize",
            "token_endpoint": f"{at}/token",
            "userinfo_endpoint": f"{at}/userinfo",
            "jwks_uri": f"{at}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
            **self.config_lies,
        }

    def keys(self) -> Claims:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
        return {"keys": [{**public, "kid": "one", "use": "sig", "alg": "RS256"}]}

    def token(self, form: dict[str, str]) -> tuple[int, Claims]:
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest()).decode()
        wanted = {"client_id": CLIENT, "client_secret": SECRET, "code": "a-code", "redirect_uri": self.asked["redirect_uri"]}
        if {**form, **wanted} != form or challenge.rstrip("=") != self.asked["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        claims = {
            "iss": self.issuer, "aud": CLIENT, "sub": "7", "iat": int(time.time()), "exp": int(time.time()) + 60,
            "nonce": self.asked["nonce"], **self.person,
        }  # fmt: skip
        return 200, {"access_token": "an-access-token", "token_type": "Bearer", "id_token": self.sign(self.lie(claims))}


class _NoRedirect(HTTPRedirectHandler):
    def http_error_302(self, request: Any, answer: Any, *rest: Any) -> Any:
        return answer


def _answers(provider: Provider) -> type[http.server.BaseHTTPRequestHandler]:
    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, query = urlsplit(self.path).path, {k: v[0] for k, v in parse_qs(urlsplit(self.path).query).items()}
            if path == "/authorize":
                provider.asked = query
                back = urlencode({"code": "a-code", "state": query["state"]})
                self.send_response(302)
                self.send_header("Location", f"{query['redirect_uri']}?{back}")
                self.end_headers()
                return
            pages = {"/.well-known/openid-configuration": provider.config, "/keys": provider.keys, "/userinfo": lambda: provider.userinfo}
            self._send(503 if provider.is_down else 200, pages[path]())

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self._send(*provider.token({name: values[0] for name, values in form.items()}))

        def _send(self, status: int, content: Claims) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, *said: Any) -> None:
            pass

    return Answers


@contextmanager
def running() -> Iterator[Provider]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        provider = Provider(server.server_port)
        server.RequestHandlerClass = _answers(provider)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield provider
        server.shutdown()
