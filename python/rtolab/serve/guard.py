"""Access control: only this machine's browser, from our own page, with bodies of limited size.

A page of another host can make a browser send requests here. With DNS rebinding they carry the name
of that host in `Host`; otherwise they carry it in `Origin`, or are marked as `cross-site`. Both are
refused.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

NAMES = ("127.0.0.1", "localhost", "[::1]")
"""Names of this machine."""

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob: data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
READS = ("GET", "HEAD")


class Guard:
    """Passes requests of our own page, and adds our headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI interface."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        refusal = _refusal(scope) if scope["type"] == "http" else "only HTTP is spoken here"
        if refusal is None:
            await self.app(scope, receive, guarded)
        else:
            fault = {"error": {"where": "request", "message": refusal, "line": None, "key": None}}
            await JSONResponse(fault, status_code=403)(scope, receive, guarded)


def _refusal(scope: Scope) -> str | None:
    """Why the request is refused, or None."""
    headers = Headers(scope=scope)
    hosts = headers.getlist("host")
    if len(hosts) != 1 or _name(hosts[0]) not in NAMES:
        return f"this server answers to {' and '.join(NAMES)} only, by whatever port"
    origin = headers.get("origin")
    if origin is not None and origin != f"http://{hosts[0]}":
        return "pages of other hosts may not ask this server"
    site = headers.get("sec-fetch-site", "none")
    if site in ("cross-site", "same-site") and not _is_visit(scope, headers):
        return "pages of other hosts may not ask this server"
    return None


def _is_visit(scope: Scope, headers: Headers) -> bool:
    """Does the user follow a link to the page? The linking page cannot read the response."""
    visits = headers.get("sec-fetch-mode") == "navigate"
    return visits and scope["method"] in READS and scope["path"] == "/"


def _name(host: str) -> str:
    """The host without its port."""
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()
