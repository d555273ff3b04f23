"""The same scenarios with this machine's kernel in real time, and with a guest's virtual clock."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rtolab.emulation import emulate
from rtolab.emulation.agreement import CASES as COMPARED
from rtolab.emulation.agreement import HEADINGS, Case, both
from rtolab.emulation.comparison import Agreement, Pair, Transfer, check_medians, transfers

if TYPE_CHECKING:
    from rtolab.kernel import Kernel

CASES = (
    *COMPARED,
    Case("gamma jitter", "gamma-jitter"),
    Case("LTE handover", "lte-handover", {"flow.download.bytes": "35 MB"}),
    Case("trace of a rate", "mahimahi", {"flow.download.bytes": "1 MB"}),
    Case("blocked millimetre waves", "mmwave-blockage", {"flow.download.bytes": "50 MB"}),
    Case("Mobile IP", "mobile-ip", {"flow.download.bytes": "8500 kB"}),
    Case("series of pings", "ping-replay", {"flow.download.bytes": "5 MB"}),
    Case("satellite handover", "satellite-handover", {"flow.download.bytes": "60 MB"}),
    Case("Wi-Fi power save", "wifi-power-save"),
    Case("Wi-Fi suspension", "wifi-suspension"),
    Case("header compression", "header-compression"),
    Case("freeze", "freeze"),
)
"""The links of docs/agreement.md, and eleven further scenarios."""


@dataclass(frozen=True)
class RealRuns:
    """The runs of a case in real time.

    Attributes:
        transfers: the outcome of each run.
        late_s: the largest 99th percentile of the packets' lateness, in seconds.
        good: was no run in doubt?
    """

    transfers: list[Transfer]
    late_s: float
    good: bool

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @classmethod
    def read(cls, known: dict[str, Any]) -> RealRuns:
        """From `document`."""
        return cls(**known | {"transfers": [Transfer(**one) for one in known["transfers"]]})


def in_real_time(case: Case, *, runs: int, parallel: int) -> RealRuns:
    """Run a case with this machine's kernel."""
    result = emulate(case.scenario, set=case.set, runs=runs, parallel=parallel)
    late_s = max(report["lateness"]["p99_s"] for report in result.reports)
    return RealRuns(transfers(result), late_s, not any(result.doubts))


def on_virtual_clock(case: Case, kernel: Kernel, *, runs: int) -> list[Transfer]:
    """Run a case with guests, on the same seeds."""
    return transfers(emulate(case.scenario, set=case.set, runs=runs, kernel=kernel))


def compared(real: RealRuns, virtual: list[Transfer]) -> list[Agreement]:
    """Whether the medians agree, within the limits of `rtolab compare`."""
    pairs = zip(virtual, real.transfers, strict=True)
    return check_medians([Pair(seed, *pair) for seed, pair in enumerate(pairs, 1)])


def row(case: Case, real: RealRuns, virtual: list[Transfer]) -> list[str]:
    """The cells of a case: the values in real time and on the virtual clock."""
    found = {check.name: check for check in compared(real, virtual)}
    swapped = {
        name: Agreement(name, one.kernel, one.engine, one.allowed, one.agrees)
        for name, one in found.items()
    }
    real_s, virtual_s = swapped["time_s"].engine, swapped["time_s"].kernel
    difference = f"{100 * (virtual_s / real_s - 1):+.2f}" if real_s and virtual_s else ""
    verdict = "agree" if all(check.agrees for check in found.values()) else "differ"
    late = f"{real.late_s * 1e3:.2g}" + ("" if real.good else " (doubted)")
    cells = [both(swapped[name]) for name in HEADINGS]
    return [case.name, str(len(virtual)), cells[0], difference, *cells[1:], late, verdict]


def table(rows: list[list[str]]) -> str:
    """The rows as a Markdown table."""
    time, *counts = HEADINGS.values()
    headings = ["link", "seeds", time, "%", *counts, "late, ms", ""]
    lines = [headings, ["---", *["--:"] * (len(headings) - 2), "---"], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
