"""The totals of a watch for Prometheus: OpenMetrics text and an HTTP server on `/metrics`."""

from __future__ import annotations

import ipaddress
import socket
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

from rtolab.watching.kernel import COUNTERS, counters

if TYPE_CHECKING:
    from collections.abc import Callable

OPEN_METRICS = "application/openmetrics-text"
OPEN_METRICS_TYPE = f"{OPEN_METRICS}; version=1.0.0; charset=utf-8"
TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
TIMEOUT_S = 5
"""The longest silence of a client, in seconds; then the connection is closed."""
LONGEST_S = 20
"""The longest connection of a client, in seconds."""
MOST_CLIENTS = 16
"""The most clients at a time; further ones are turned away."""

Labels = Mapping[str, str]


class Family(NamedTuple):
    """A metric with its samples."""

    name: str
    kind: str
    about: str
    samples: Sequence[tuple[Labels, float]]


def families(totals: Mapping[str, Any], interface: str) -> Iterator[Family]:
    """The metrics. The number of their series does not depend on the traffic."""
    own = {"interface": interface}

    def counter(name: str, about: str, samples: Sequence[tuple[Labels, float]]) -> Family:
        labelled = [(own | dict(labels), value) for labels, value in samples]
        return Family(f"rtolab_watch_{name}", "counter", about, labelled)

    yield counter("packets", "TCP packets.", [({}, totals["packets"])])
    yield counter(
        "kernel_drops", "Packets that the kernel dropped.", [({}, totals["kernel_drops"])]
    )
    yield counter("connections", "Connections seen.", [({}, totals["connections"])])
    yield counter("connections_evicted", "Connections ended by a limit.", [({}, totals["evicted"])])
    yield Family(
        "rtolab_watch_connections_open",
        "gauge",
        "Connections that are watched now.",
        [(own, totals["open"])],
    )
    yield counter(
        "retransmissions",
        "Retransmissions by trigger and verdict.",
        [
            ({"trigger": trigger, "verdict": verdict}, count)
            for trigger, verdicts in totals["retransmissions"].items()
            for verdict, count in verdicts.items()
        ],
    )
    yield counter(
        "timeouts",
        "Retransmission timeouts by class; handshake is that of SYNs and SYN-ACKs.",
        [
            ({"phase": phase, "class": class_}, count)
            for phase, key in (("data", "timeouts"), ("handshake", "handshake_timeouts"))
            for class_, count in totals[key].items()
        ],
    )
    yield counter(
        "unneeded_bytes",
        "Payload that was retransmitted although it had arrived.",
        [({}, totals["unneeded_bytes"])],
    )
    yield counter(
        "time_lost_seconds",
        "Time lost to timeouts and late ACKs.",
        [({}, totals["time_lost"])],
    )
    yield counter(
        "late_acks", "ACKs a second late or more, without a timeout.", [({}, totals["late_acks"])]
    )
    kernel = [({"counter": name}, float(count)) for name, count in counters().items()]
    if kernel:
        known = "; ".join(f"{name}: {about}" for name, about in COUNTERS.items())
        about = f"The kernel's own counters since boot, all interfaces. {known}"
        yield Family("rtolab_kernel_tcp", "counter", about, kernel)


def exposition(found: Iterator[Family], *, open_metrics: bool) -> str:
    """The text of the metrics: OpenMetrics 1.0, or Prometheus's older format."""
    lines = []
    for family in found:
        suffix = "_total" if family.kind == "counter" else ""
        name = family.name if open_metrics else family.name + suffix
        lines += [f"# HELP {name} {_escaped(family.about)}", f"# TYPE {name} {family.kind}"]
        for labels, value in family.samples:
            inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
            lines.append(f"{family.name}{suffix}{{{inside}}} {value}")
    if open_metrics:
        lines.append("# EOF")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


@contextmanager
def _naming(address: tuple[str, int]) -> Iterator[None]:
    """Errors of a socket name its address."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, f"{address[0]}:{address[1]}") from None


@contextmanager
def serving(address: tuple[str, int], found: Callable[[], Iterator[Family]]) -> Iterator[int]:
    """Serve the metrics at `/metrics` while the block runs; its value is the port.

    Raises:
        OSError: the address cannot be used.
    """

    class Handler(BaseHTTPRequestHandler):
        timeout = TIMEOUT_S
        server_version = "rtolab"
        sys_version = ""

        def do_GET(self) -> None:
            if not answers_to(self.headers.get("Host"), str(server.server_address[0])):
                self.send_error(403, "found another host's name in Host")
                return
            if self.path.partition("?")[0] != "/metrics":
                self.send_error(404, "found no such page; expected /metrics")
                return
            is_open = OPEN_METRICS in self.headers.get("Accept", "")
            body = exposition(found(), open_metrics=is_open).encode()
            self.send_response(200)
            self.send_header("Content-Type", OPEN_METRICS_TYPE if is_open else TEXT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing: standard error is for messages."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        address_family = _family(address[0])
        places = threading.BoundedSemaphore(MOST_CLIENTS)

        def process_request(self, request: Any, client_address: Any) -> None:
            if self.places.acquire(blocking=False):
                super().process_request(request, client_address)
            else:
                self.shutdown_request(request)

        def process_request_thread(self, request: Any, client_address: Any) -> None:
            timer = threading.Timer(LONGEST_S, _close, [request])
            timer.daemon = True
            timer.start()
            try:
                super().process_request_thread(request, client_address)
            finally:
                timer.cancel()
                self.places.release()

        def handle_error(self, request: Any, client_address: Any) -> None:
            if not isinstance(sys.exception(), OSError):  # The client went away.
                super().handle_error(request, client_address)

    with _naming(address):
        server = Server(address, Handler)
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


def answers_to(host: str | None, listening: str) -> bool:
    """Is a request with this `Host` for us?

    A page of another host can have its own name resolve to a loopback address (DNS rebinding). At
    such an address only this machine's own names are right; other addresses have names that we do
    not know.
    """
    if host is None or not _is_loopback(listening):
        return True
    name, colon, port = host.lower().rpartition(":")
    name = name if colon and port.isdigit() else host.lower()
    return name == "localhost" or _is_loopback(name.removeprefix("[").removesuffix("]"))


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _close(request: socket.socket) -> None:
    with suppress(OSError):
        request.shutdown(socket.SHUT_RDWR)


def _family(host: str) -> int:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
