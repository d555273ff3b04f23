"""The paper's two topologies, as far as it says, and what was assumed of them."""

from rtolab.experiments.base import Alternative, assumed, stated, taken

LONG = (
    assumed("link.backbone.delay", "2.5 ms", "5 ms one way in all: Figure 5(a) says nothing"),
    assumed("link.wireless.delay", "1.67 ms", "of the 5 ms"),
    assumed("flow.ftp.access.delay", "0.83 ms", "of the 5 ms"),
    assumed("flow.ftp.access.rate", "10 Mbit/s", "a flow's share of the last mile"),
    assumed("flow.ftp.access.queue", "12 packets", "4: RED, a bandwidth-delay product"),
    taken("errors", "data only, independent", "5: losses are wireless errors; ACKs are small"),
)
"""Topology (a) as every long transfer has it."""

THREE_FLOWS = (
    stated("flow.ftp.count", "3", "Table 3"),
    stated("link.backbone.rate", "6 Mbit/s", "Table 3"),
    assumed("link.backbone.queue", "10 packets", "4: a bandwidth-delay product; at least ten"),
    assumed("duration", "100 s", "not given"),
)
"""Figure 7(a)."""

OTHER_PATHS = (Alternative("an access link of 100 Mbit/s", {"flow.ftp.access.rate": "100 Mbit/s"}),)
"""What else topology (a) might be; other round trips are in Figure 7(a) itself."""

PAGES = (
    stated("flow.web.count", "3", "5.2: three flows"),
    stated(
        "flow.web.pages",
        '{ bytes = "100 kB", every = "5 s", count = 20 }',
        "5.2: pages of 100 KB every 5 s, 20 tasks",
    ),
    stated("link.wireless.forward.loss", "0.03", "5.2: PER 3 %"),
    assumed("link.backbone.rate", "2 Mbit/s", "Figure 5(b) says nothing"),
    assumed("link.backbone.queue", "10 packets", "4: a bandwidth-delay product"),
    assumed("link.backbone.delay", "12 ms", "of 21 ms one way: 5.1 has 42 ms in all"),
    assumed("link.wireless.delay", "7 ms", "of the 21 ms"),
    assumed("flow.web.access.delay", "2 ms", "of the 21 ms"),
    assumed("flow.web.access.rate", "10 Mbit/s", "a flow's share of the last mile"),
    taken("connections", "one for all pages", "5.2: a flow downloads a page every 5 s"),
)
"""Topology (b) with its pages."""

OTHER_PAGES = (
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
"""What else topology (b) might be."""

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
