"""Who may ask: this machine's browser, from our own page, and nothing too large.

A page of another host can make a browser send requests here. Those that it sends by a name of its
own that leads to this address (DNS rebinding) carry that name in `Host`; the others carry the
page's host in `Origin`, or say `cross-site` themselves. Both are refused.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

NAMES = ("127.0.0.1", "localhost", "[::1]")
"""What this machine calls itself."""

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
    """Lets through what our own page asks, and puts our headers on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI has it."""
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
    """Why this must not be answered, if so."""
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
    """A link that leads to the page: it hands nothing to the page that it stood on."""
    visits = headers.get("sec-fetch-mode") == "navigate"
    return visits and scope["method"] in READS and scope["path"] == "/"


def _name(host: str) -> str:
    """The host without its port."""
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()
