"""The papers' senders on today's kernel, as closely as its settings allow, beside simulations."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace

from rtolab._rtolab import Error
from rtolab.emulation import EmulationResult, emulate
from rtolab.emulation import Variant as Setting
from rtolab.experiments.base import Experiment, Metric, Variant
from rtolab.experiments.measured import ExperimentRuns, Runs
from rtolab.experiments.minrto2007.setup import LINUX, LINUX_AS_IT_IS
from rtolab.experiments.reproduce import reproduce
from rtolab.experiments.trace import Trace
from rtolab.kernel import Kernel
from rtolab.stats import Summary, summarise

Progress = Callable[[int, int], object]

RUNS = 30
"""Of each variant, as many as the F-RTO report had."""
PARALLEL = 60
"""Concurrent runs: hosts that wait for slow links need little processor time."""
DECADES = {
    "kernel.recovery": "0",
    "kernel.early_retrans": "0",
    "kernel.congestion": "reno",
    "kernel.dsack": "false",
    "kernel.initial_window": "2",
}
"""Features that the papers' senders lacked are off; the initial window is theirs."""


@dataclass(frozen=True)
class KernelSender:
    """One of the papers' senders, as a kernel.

    Attributes:
        key: of the experiment's variant.
        set: the kernel's settings, by key of the scenario.
        says: a description, with the differences.

    """

    key: str
    set: Mapping[str, str] = field(default_factory=dict)
    says: str = ""


@dataclass(frozen=True)
class Line:
    """A number of a variant: published, simulated and on the kernel."""

    variant: Variant
    metric: Metric
    published: float | None
    simulated: Summary | None
    kernel: Summary | None


@dataclass(frozen=True)
class KernelExperiment:
    """An experiment on real kernels.

    Attributes:
        experiment: the experiment, with the variants that a kernel can be set to.
        mapping: its mapping.
        left_out: the titles of the variants that a kernel cannot be set to.
        lines: the results.
        emulated: the runs on kernels.
        runs: how many for each variant.
        seed: the first.

    """

    experiment: Experiment
    mapping: tuple[KernelSender, ...]
    left_out: tuple[str, ...]
    lines: tuple[Line, ...]
    emulated: EmulationResult
    runs: int
    seed: int

    def document(self) -> dict[str, object]:
        """All of it, for machines."""
        return {
            "id": self.experiment.id,
            "runs": self.runs,
            "seed": self.seed,
            "good": not any(self.emulated.doubts),
            "doubts": sorted({doubt for run in self.emulated.doubts for doubt in run}),
            "mapping": [
                {"variant": one.key, "set": dict(one.set), "says": one.says} for one in self.mapping
            ],
            "left_out": list(self.left_out),
            "rows": [
                {
                    "variant": line.variant.key,
                    "label": line.variant.title,
                    "metric": line.metric.name,
                    "unit": line.metric.unit,
                    "published": line.published,
                    "simulated": _numbers(line.simulated),
                    "kernel": _numbers(line.kernel),
                }
                for line in self.lines
            ],
        }


def _numbers(summary: Summary | None) -> dict[str, float | int] | None:
    return None if summary is None else asdict(summary)


def _sum(key: str, says: str, **kernel: str) -> KernelSender:
    return KernelSender(
        key, DECADES | {f"kernel.{name}": value for name, value in kernel.items()}, says
    )


FRTO2002 = (
    _sum(
        "sack+eifel",
        "timestamps, by which today's kernel detects spurious timeouts as Eifel (RFC 3522) does, "
        "and undoes them; the original Eifel responded differently",
        frto="0",
        timestamps="true",
        rto_min="1 s",
    ),
    _sum("sack+frto", "F-RTO of RFC 5682, SACK", frto="2", timestamps="false", rto_min="1 s"),
    _sum("sack", "SACK alone", frto="0", timestamps="false", rto_min="1 s"),
    _sum(
        "newreno",
        "no SACK: the kernel's NewReno, without a careful bugfix",
        frto="0",
        timestamps="false",
        sack="false",
        rto_min="1 s",
    ),
    _sum(
        "newreno+frto",
        "no SACK, F-RTO of RFC 5682",
        frto="2",
        timestamps="false",
        sack="false",
        rto_min="1 s",
    ),
    _sum(
        "newreno+eifel",
        "no SACK, timestamps as above",
        frto="0",
        timestamps="true",
        sack="false",
        rto_min="1 s",
    ),
)
DELAYS2001 = (
    _sum(
        "linux-2.4",
        "no SACK, F-RTO or timestamps: today's NewReno, whose bugfix is no longer the careful one "
        "of Linux 2.4.0",
        frto="0",
        timestamps="false",
        sack="false",
    ),
    _sum(
        "linux-2.2",
        "the same settings: a kernel has no other NewReno",
        frto="0",
        timestamps="false",
        sack="false",
    ),
)
MINRTO2007 = tuple(
    _sum(
        variant.key,
        "SACK, F-RTO and timestamps; a kernel has one floor, on the variance, and its client "
        "delays an ACK by 40 ms, not 200 ms",
        frto="2",
        timestamps="true",
        rto_min="200 ms",
    )
    for variant in (LINUX, LINUX_AS_IT_IS)
)
MAPPINGS: dict[str, tuple[KernelSender, ...]] = {
    **{f"frto2002/table{number}": FRTO2002 for number in (1, 2, 3)},
    "delays2001/fig9": DELAYS2001,
    "minrto2007/fig6a": MINRTO2007,
}
"""By id of the experiment."""
ON_GUESTS = "outages/study"
"""The experiment whose senders are kernels and QUIC stacks as they are, on a virtual clock."""


def find(name: str) -> tuple[KernelSender, ...]:
    """The mapping of an experiment.

    Raises:
        Error: it has none.
    """
    if name not in MAPPINGS:
        known = ", ".join([*MAPPINGS, ON_GUESTS])
        raise Error(f"{name} has no senders that a kernel can be set to; --on kernel knows {known}")
    return MAPPINGS[name]


def on_kernel(
    experiment: Experiment,
    *,
    runs: int,
    seed: int = 1,
    parallel: int = PARALLEL,
    instead: Mapping[str, str] | None = None,
    guest: Kernel | None = None,
    progress: Progress | None = None,
) -> KernelExperiment:
    """Run an experiment's variants simulated and on real kernels, on the same seeds.

    Args:
        experiment: one that has a mapping.
        runs: how many for each variant.
        seed: the first.
        parallel: how many on kernels at a time.
        instead: values in place of the experiment's, by key of the scenario, for both.
        guest: a kernel on a virtual clock; without one this machine's in real time.
        progress: called with the number of finished runs on kernels.

    Raises:
        EmulationError: something is missing.
    """
    mapping = find(experiment.id)
    keys = {one.key for one in mapping}
    chosen = tuple(v for v in experiment.variants if v.key in keys)
    left_out = tuple(v.title for v in experiment.variants if v.key not in keys)
    mapping = tuple(next(one for one in mapping if one.key == v.key) for v in chosen)
    plain = replace(
        experiment, variants=chosen, checks=(), alternatives=(), derive=None, tables=None
    )
    simulated = reproduce(plain, runs=runs, seed=seed, assume=instead).measured
    if simulated is None:
        raise Error(f"{experiment.id}: nothing is simulated")
    runs = simulated.runs
    assumed = {one.name: one.value for one in plain.assumptions if one.is_key}
    settings = [
        Setting(variant.key, {**variant.set, **one.set, **(instead or {})})
        for variant, one in zip(chosen, mapping, strict=True)
    ]
    emulated = emulate(
        plain.scenario,
        variants=settings,
        seed=seed,
        runs=runs,
        set=assumed,
        parallel=parallel,
        kernel=guest,
        progress=progress,
    )
    of = {
        variant.key: Runs(emulated, place * runs, runs, plain.endless)
        for place, variant in enumerate(chosen)
    }
    traces = {}
    if plain.is_trace:
        traces = {key: Trace.of(mine.result, mine.first) for key, mine in of.items()}
    kernel = ExperimentRuns(plain, runs, of, traces)
    lines = tuple(
        Line(
            variant,
            metric,
            experiment.published.get((variant.key, metric.name)),
            summarise(simulated.values(variant.key, metric)),
            summarise(kernel.values(variant.key, metric)),
        )
        for variant in chosen
        for metric in experiment.metrics
    )
    return KernelExperiment(plain, mapping, left_out, lines, emulated, runs, seed)
