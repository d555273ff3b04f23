"""Agreement of the engine with a kernel over many scenarios: the table of docs/agreement.md."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rtolab.emulation.comparison import SENDER, Agreement, Comparison, Progress, compare
from rtolab.kernel import Kernel

HEADINGS = {
    "time_s": "time, s",
    "retransmissions": "retransmissions",
    "unneeded": "unneeded",
    "timeouts": "timeouts",
    "fast_retransmits": "fast retransmits",
    "undone": "undone",
}
"""The column headings of the compared numbers."""

_STILL = {"link.radio.stalls": "{}"}
_SHORT = {**_STILL, "link.radio.queue": "20 kB"}
_JITTER = {"link.radio.jitter": '{ uniform = ["0 s", "2 ms"] }'}


@dataclass(frozen=True)
class Case:
    """A scenario to compare.

    Attributes:
        name: the heading of the row.
        scenario: the path of a scenario, or the name of an included one.
        set: values that replace those of the scenario, by dotted key.
        runs: the number of seeds; few if only the order of events is random.
    """

    name: str
    scenario: str
    set: Mapping[str, object] = field(default_factory=dict)
    runs: int = 3


def _stalled(span: str) -> Mapping[str, object]:
    return {"link.radio.stalls.scripted": f'[{{ at = "5 s", for = "{span}" }}]'}


def _resent(order: str) -> Mapping[str, object]:
    arq = f'[{{ retries = 3, timeout = "600 ms", order = "{order}" }}]'
    return {**_STILL, "link.radio.loss": 0.1, "link.radio.arq": arq}


CASES = (
    Case("stall of 3 s", "kernel-stall"),
    Case("stall of 0.5 s", "kernel-stall", _stalled("500 ms")),
    Case("stall of 10 s", "kernel-stall", _stalled("10 s")),
    Case("stalls at random", "stall", runs=10),
    Case("hold", "hold"),
    Case("lost tail", "tail"),
    Case("SYN held", "syn-hold"),
    Case("outage", "outage"),
    Case("outage of ACKs", "ack-outage"),
    Case("rate drop", "rate-drop", {"flow.transfer.bytes": "800 kB"}),
    Case("1 % lost, and a stall", "kernel-stall", {"link.radio.loss": 0.01}, runs=10),
    Case("5 % lost, and a stall", "kernel-stall", {"link.radio.loss": 0.05}, runs=10),
    Case("10 % of ACKs lost, and a stall", "kernel-stall", {"link.radio.backward.loss": 0.1}, 10),
    Case("queue that overflows", "kernel-stall", _SHORT, runs=15),
    Case("the same, and jitter", "kernel-stall", {**_SHORT, **_JITTER}, runs=10),
    Case(
        "reordering",
        "kernel-stall",
        {
            **_STILL,
            "link.radio.forward.jitter": '{ uniform = ["0 s", "60 ms"] }',
            "link.radio.forward.order": "free",
        },
        runs=10,
    ),
    Case("ARQ in order", "kernel-stall", _resent("kept"), runs=10),
    Case("ARQ out of order", "kernel-stall", _resent("free"), runs=30),
    Case("last mile", "last-mile", runs=2),
)
"""The cases of `rtolab compare --all`, which take about nine minutes."""


def compared(
    cases: Iterable[Case],
    *,
    sender: str = SENDER,
    seed: int = 1,
    runs: int | None = None,
    set: Mapping[str, object] | None = None,
    parallel: int = 10,
    kernel: Kernel | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[Case, Comparison]]:
    """Compare the cases one by one.

    Args:
        cases: the cases.
        sender: the engine's sender specification.
        seed: the first seed.
        runs: the runs of each; `None` for the default of each case.
        set: values that replace those of the scenarios and cases, by dotted key.
        parallel: concurrent runs on kernels.
        kernel: a kernel on a virtual clock; without one this machine's in real time.
        progress: called with the finished runs on kernels of a case.

    Raises:
        EmulationError: a prerequisite is missing, or a kernel rejects a setting.
        Error: a scenario, the sender, a key or a value is wrong.
    """
    for case in cases:
        done = compare(
            case.scenario,
            sender=sender,
            seed=seed,
            runs=runs or case.runs,
            set={**case.set, **(set or {})},
            parallel=parallel,
            kernel=kernel,
            progress=progress,
        )
        yield case, done


def cells(case: Case, done: Comparison) -> list[str]:
    """A row: each number of the engine and of the kernel, and the verdict."""
    numbers = {check.name: check for check in done.checks}
    medians = [both(numbers[name]) for name in HEADINGS]
    return [case.name, str(len(done.pairs)), *medians, done.verdict]


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """The rows as a Markdown table."""
    headings = ["link", "seeds", *HEADINGS.values(), ""]
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def both(check: Agreement) -> str:
    """A number of the engine and of the kernel, in bold if they differ by too much.

    If the kernel's runs differ from each other, the smallest and the largest follow.
    """
    engine, kernel = (_number(check.name, number) for number in (check.engine, check.kernel))
    values = f"{engine}, {kernel}" if check.agrees else f"**{engine}, {kernel}**"
    if check.spread is None:
        return values
    least, largest = (_number(check.name, number) for number in check.spread)
    return f"{values} ({least} to {largest})"


def _number(name: str, number: float | None) -> str:
    digits = 2 if name == "time_s" else 1
    return "none" if number is None else f"{number:.{digits}f}".removesuffix(".0")
