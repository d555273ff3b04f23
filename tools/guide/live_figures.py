"""The live figures of the guide: runs of which a page has a picture, and which its reader changes.

A page refers to a live figure by its picture, `made/<name>.svg`. Without scripts the picture stays.
"""

import base64
import json
import zlib
from dataclasses import asdict, dataclass, field
from typing import Any

from rtolab.run import included_scenarios

STALL = """\
title = "a radio that holds everything for three seconds"
duration = "120 s"

[[link]]
name = "radio"
between = ["server", "phone"]
rate = "1 Mbit/s"
delay = "50 ms"
queue = "64 kB"

[link.stalls]
scripted = [{ at = "4 s", for = "3 s" }]

[[flow]]
name = "download"
from = "server"
to = "phone"
bytes = "1 MB"
"""
PAGES = """\
title = "Pages whose last packet leaves alone"
duration = "10 s"

[[link]]
name = "path"
between = ["server", "client"]
delay = "21 ms"

[tcp]
mss = "1000 B"

[tcp.rto]
min = "200 ms"
granularity = "10 ms"
arithmetic = "ns2"
sample_handshake = false

[receiver]
buffer = "2000 B"
ack_every = 2
delayed_ack = "200 ms"

[[flow]]
name = "pages"
from = "server"
to = "client"
pages = { bytes = "61 kB", every = "2500 ms", count = 2 }
"""
"""The last packet of a page waits for the delayed ACK, as in section 5.1 of the paper of 2007."""


@dataclass(frozen=True)
class Stall:
    """The stall that the reader drags: the key that sets it, and its times."""

    key: str
    at: str
    length: str

    @property
    def document(self) -> dict[str, str]:
        """The stall for the page."""
        return {"key": self.key, "at": self.at, "for": self.length}


@dataclass(frozen=True)
class Slider:
    """A slider.

    Attributes:
        label: its name.
        keys: the keys of the scenario that it sets.
        unit: "time", "rate" or "chance".
        scale: "log" with both ends, or "power" with the upper end and the exponent.
        value: where it begins.
    """

    label: str
    keys: tuple[str, ...]
    unit: str
    scale: tuple[str, float, float]
    value: str


@dataclass(frozen=True)
class LiveFigure:
    """A live figure.

    Attributes:
        toml: the text of its scenario.
        senders: the senders; the picture shows the first.
        heading: the title of the picture.
        between: the part of the run that is shown, in seconds; None for all of it.
        set: values that replace those of the scenario, by key.
        stall: what the reader drags.
        sliders: what the reader moves besides.
    """

    toml: str
    senders: tuple[str, ...]
    heading: str
    between: tuple[float, float] | None = None
    set: dict[str, str] = field(default_factory=dict)
    stall: Stall | None = None
    sliders: tuple[Slider, ...] = ()

    @property
    def document(self) -> str:
        """The figure as JSON, for the script of the page."""
        packer = zlib.compressobj(wbits=-15)
        packed = packer.compress(self.toml.encode()) + packer.flush()
        document: dict[str, Any] = {
            "toml": self.toml,
            "packed": base64.urlsafe_b64encode(packed).decode().rstrip("="),
            "senders": self.senders,
            "set": self.set,
            "view": self.between,
            "stall": self.stall.document if self.stall else None,
            "sliders": [asdict(slider) for slider in self.sliders],
        }
        return json.dumps(document)


def _included(name: str) -> str:
    return included_scenarios()[name].read_text(encoding="utf-8")


def _stalled(key: str, at: str, length: str) -> dict[str, str]:
    return {key: f'[{{ at = "{at}", for = "{length}" }}]'}


RADIO = Stall("link.radio.stalls.scripted", "4 s", "3 s")
SLOW = Stall("link.wireless.stalls.scripted", "12 s", "6 s")
ONE_STALL = _stalled(SLOW.key, SLOW.at, SLOW.length)
FLOOR = Slider("Minimum RTO", ("tcp.rto.min",), "time", ("log", 0.01, 1.0), "200 ms")
DAMAGE = Slider("Loss in bad state", ("link.wireless.bad.loss",), "chance", ("power", 1, 1), "0.6")
BURSTS = {
    "duration": "12 s",
    "measure.from": "1 s",
    "measure.to": "11 s",
    "link.wireless.loss": "0.01",
    "link.wireless.bad.loss": "0.6",
    "link.wireless.states.good.exponential": "100 ms",
    "link.wireless.states.bad.exponential": "20 ms",
}

LIVE = {
    "sack": LiveFigure(STALL, ("sack",), "a link that stalls", (3.5, 9.5), stall=RADIO),
    "frto": LiveFigure(STALL, ("sack+frto",), "a link that stalls", (3.5, 9.5), stall=RADIO),
    "tutorial": LiveFigure(
        STALL, ("sack", "sack+frto"), "a link that stalls", (3.5, 9.5), stall=RADIO
    ),
    "delays2001": LiveFigure(
        _included("delays2001-hold"),
        ("linux-2.2", "sack+eifel"),
        "9600 bit/s, held for ten seconds",
        (0.0, 40.0),
        stall=Stall("link.wireless.forward.stalls.scripted", "5 s", "10 s"),
    ),
    "frto2002": LiveFigure(
        _included("frto2002-delays"),
        ("sack", "sack+frto"),
        "28.8 kbit/s, held for six seconds",
        (8.0, 32.0),
        set={"link.wireless.spikes.probability": "0"} | ONE_STALL,
        stall=SLOW,
    ),
    "arq2002": LiveFigure(
        _included("arq2002-link"),
        ("sack",),
        "local retransmissions out of order",
        set=BURSTS,
        sliders=(DAMAGE,),
    ),
    "dualrtt2004": LiveFigure(
        _included("dualrtt2004-hiccup"),
        ("reno:no-bugfix", "reno:no-bugfix+dualrtt"),
        "a hiccup of twelve seconds",
        (28.0, 56.0),
        stall=Stall("link.path.forward.stalls.scripted", "30.9 s", "12 s"),
    ),
    "minrto2007": LiveFigure(
        PAGES,
        ("sack+frto", "sack+frto+minrto"),
        "a last packet that waits for the delayed ACK",
        (1.1, 1.9),
        sliders=(FLOOR,),
    ),
}
"""The live figures, by the name of their picture."""
