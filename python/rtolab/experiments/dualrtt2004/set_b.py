"""Set B: the paper's network (section II-A), as it hits the paper's printed times.

The paper's link of 46.8 kbit/s with tables of its own (Table II) fits a tick of 100 ms; with the
link's rate taken as 50 kbit/s both ways an ns-2.35 of that tick sends segment 131 at 28.986 s and
times out at 34.537 and 42.137 s, as printed. The paper's clock begins with the first data.
"""

from __future__ import annotations

from rtolab.experiments.base import assumed, stated

HANDSHAKE = 2.8128
"""How long the handshake takes, which the paper's ns-2 leaves out, in s: twice 1.4 s, and 40 bytes
at 50 kbit/s each way."""

SET_B = (
    assumed("link.wireless.rate", "50 kbit/s", "II-A prints 46.8 kbit/s; 50 hits its times"),
    stated("link.wireless.delay", "1.4 s", "II-A: one way"),
    stated(
        "link.wireless.forward.stalls.scripted",
        f'[{{ at = "{28 + HANDSHAKE:g} s", for = "12 s" }}]',
        "II-A: from 28.0 s for 12 s, in the uplink; the handshake is added",
    ),
)
