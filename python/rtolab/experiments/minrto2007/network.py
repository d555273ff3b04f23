"""The paper's two topologies, as far as it describes them, and our assumptions about them."""

from collections.abc import Mapping

from rtolab.experiments.base import Alternative, Assumption, assumed, interpreted, stated

FRAME_BITS = 8 * 1052
"""A packet with its headers."""


def buffer(queue: str, rate_mbps: float, delay_ms: float) -> dict[str, str]:
    """A buffer of the delay-bandwidth product of its outgoing link, by keys of the scenario.

    RED of ns-2 drops nothing before the average queue has five packets, so it never acts in a
    shorter one; our RED has its lower threshold just below such a buffer.
    """
    packets = max(1, round(1000 * rate_mbps * delay_ms / FRAME_BITS))
    lower = min(5.0, packets - 0.1)
    red = f"{{ min = {lower:g}, max = 15, gentle = true }}"
    return {f"{queue}.queue": f"{packets} packets", f"{queue}.red": red}


def buffers(keys: Mapping[str, str], why: str) -> tuple[Assumption, ...]:
    """Buffers as assumptions."""
    return tuple(assumed(name, value, why) for name, value in keys.items())


PRODUCT = "4: the delay-bandwidth product of the outgoing link, read literally"

LONG = (
    assumed("link.backbone.delay", "2.5 ms", "5 ms one way in all: Figure 5(a) says nothing"),
    assumed("link.wireless.delay", "1.67 ms", "of the 5 ms"),
    assumed("flow.ftp.access.delay", "0.83 ms", "of the 5 ms"),
    assumed("flow.ftp.access.rate", "10 Mbit/s", "a flow's share of the last mile"),
    *buffers(buffer("flow.ftp.access", 10, 2.5), f"{PRODUCT}: the last mile has 2.5 ms"),
    interpreted(
        "errors", "data only, independent", "5: losses are wireless errors; ACKs are small"
    ),
)
"""Topology (a) as every long transfer has it."""

THREE_FLOWS = (
    stated("flow.ftp.count", "3", "Table 3"),
    stated("link.backbone.rate", "6 Mbit/s", "Table 3"),
    *buffers(buffer("link.backbone", 6, 2.5), PRODUCT),
    assumed("duration", "100 s", "not given"),
)
"""Figure 7(a)."""

OTHER_PATHS = (
    Alternative("an access link of 100 Mbit/s", {"flow.ftp.access.rate": "100 Mbit/s"}),
    Alternative(
        "buffers of a round trip",
        buffer("link.backbone", 6, 10) | buffer("flow.ftp.access", 10, 10),
        "the usual meaning of a delay-bandwidth product",
    ),
)
"""Alternatives for topology (a); other round trips are in Figure 7(a) itself."""

PAGES = (
    stated("flow.web.count", "3", "5.2: three flows"),
    stated(
        "flow.web.pages",
        '{ bytes = "100 kB", every = "5 s", count = 20 }',
        "5.2: pages of 100 KB every 5 s, 20 tasks",
    ),
    stated("link.wireless.forward.loss", "0.03", "5.2: PER 3 %"),
    assumed("link.backbone.rate", "2 Mbit/s", "Figure 5(b) says nothing"),
    *buffers(buffer("link.backbone", 2, 12), f"{PRODUCT}. Chosen after Table 2 was seen"),
    assumed("link.backbone.delay", "12 ms", "of 21 ms one way: 5.1 has 42 ms in all"),
    assumed("link.wireless.delay", "7 ms", "of the 21 ms"),
    assumed("flow.web.access.delay", "2 ms", "of the 21 ms"),
    assumed("flow.web.access.rate", "10 Mbit/s", "a flow's share of the last mile"),
    *buffers(buffer("flow.web.access", 10, 9), f"{PRODUCT}: the last mile has 9 ms"),
    assumed(
        "flow.web.start_jitter",
        "0 s",
        "5.2: every 5 s; nothing says that the flows start apart. Chosen after Table 2 was seen",
    ),
    interpreted("connections", "one for all pages", "5.2: a flow downloads a page every 5 s"),
)
"""Topology (b) with its pages."""

OTHER_PAGES = (
    Alternative("flows start up to 0.5 s apart", {"flow.web.start_jitter": "0.5 s"}),
    Alternative(
        "buffers of a round trip",
        buffer("link.backbone", 2, 42) | buffer("flow.web.access", 10, 42),
        "the usual meaning of a delay-bandwidth product",
    ),
    Alternative("a backbone of 1 Mbit/s", {"link.backbone.rate": "1 Mbit/s"}),
    Alternative(
        "1 Mbit/s for each flow",
        {"link.backbone.rate": "10 Mbit/s", "flow.web.access.rate": "1 Mbit/s"},
        "the last mile may be the bottleneck",
    ),
    Alternative(
        "an idle connection begins anew", {"tcp.window.idle_restart": "last-sent"}, "RFC 2581, 4.1"
    ),
)
"""Alternatives for topology (b)."""

QUIET = (
    assumed("flow.web.count", "1", "5.1: one server and one client"),
    assumed("flow.web.start_jitter", "0 s", "nothing is left to chance"),
    assumed("link.wireless.forward.loss", "0", "5.1: nothing is lost"),
    assumed("link.backbone.rate", "100 Mbit/s", "so that queueing and sending take no time"),
    assumed("link.backbone.queue", "200 packets", "so that nothing is dropped"),
    assumed("link.backbone.red", "{ min = 100, max = 300 }", "nor early"),
    assumed("flow.web.access.rate", "100 Mbit/s", "so that queueing and sending take no time"),
    assumed("flow.web.access.queue", "200 packets", "so that nothing is dropped"),
    assumed("flow.web.access.red", "{ min = 100, max = 300 }", "nor early"),
)
"""Topology (b) with one flow on a path that only delays."""

ROUND_TRIP = (
    stated("link.backbone.delay", "12 ms", "5.1: a round trip of 42 ms; assumed of 21 ms one way"),
    stated("link.wireless.delay", "7 ms", "of the 21 ms"),
    stated("flow.web.access.delay", "2 ms", "of the 21 ms"),
)

ALONE = (
    *QUIET,
    assumed(
        "receiver.buffer",
        "2000 B",
        "a window of two, so that packet 601 leaves alone, after all others are acknowledged",
    ),
    assumed(
        "flow.web.pages",
        '{ bytes = "601 kB", every = "30 s", count = 2 }',
        "Figure 6: packet 601 is the last of what the application wrote, and a pause follows; "
        "the last of the second page carries the FIN, which is acknowledged at once",
    ),
    assumed("duration", "60 s", "long enough for all pages"),
)
"""Section 5.1: an odd packet that the application's pause leaves alone."""
