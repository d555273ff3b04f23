"""Running a scenario."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.prototype import Detector, Given, Made, made
from rtolab.result import Result

Progress = Callable[[int, int], object]
"""Told how many runs are done, of how many."""

Judge = str | type[Detector] | Detector
"""A detector's name, or one that is written in Python."""

LARGEST_SEED = 2**64 - 1
MOST_RUNS = 10**7
"""Of one call: all that they leave is in memory at once."""
MOST_JOBS = 4096
"""Threads, or runs on kernels at a time."""


def run(  # noqa: PLR0913  (all but the first are keywords with defaults)
    scenario: str | Path,
    *,
    sender: str | Sequence[str] | None = None,
    seed: int = 1,
    runs: int = 1,
    set: Mapping[str, object] | None = None,
    trace: bool | None = None,
    windows: bool | None = None,
    judge: Judge | Sequence[Judge] = (),
    what_if: str | Sequence[str] = (),
    prototypes: Sequence[Given] = (),
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Run a scenario, with each sender on each seed.

    The same arguments give the same tables and captures, on any machine and with any `jobs`.

    Args:
        scenario: the path of a scenario, or the name of a shipped one (`frto2002-delays`).
        sender: a sum of policies such as "sack+frto", or several, each of which runs on the same
            seeds; by default the scenario's own.
        seed: the first seed; run i of a sender uses `seed + i`, so senders are paired on seeds.
        runs: how many seeds, for each sender.
        set: values that replace the scenario's, by dotted key: {"link.wireless.loss": 0.02}.
        trace: record every packet; by default when there is a single run.
        windows: record the senders' windows; by default when there is a single run.
        judge: detectors that ride along on every sender and judge its timeouts: names, classes
            under `Detector`, objects of such, or "all".
        what_if: senders each of which goes on, in a copy of the run, from every timeout.
        prototypes: what is written in Python and may be named, here and in the scenario: detectors
            by senders and judges ("sack+early"), responses by senders ("sack+eifel:careful") and
            `tcp.response`, stages by links ({"link.radio.stage": "lossy"}).
        jobs: how many threads; by default one a processor.
        progress: called now and then with the runs done and the runs there are.

    Returns:
        The tables of all runs, senders before seeds.

    Raises:
        Error: the scenario, a sender, a key or a value is wrong; the message says where and what
            would be right. Or a prototype raised: what it raised is the cause.
        OSError: the scenario cannot be read.
        MemoryError: there is no room for a trace as long as this.

    Example:
        >>> result = run("frto2002-delays", sender=["sack", "sack+frto"], runs=30)
        >>> result.connections.group_by("sender").agg(pl.median("elapsed_s"))
    """
    # A sender that is named twice would be the same runs twice.
    senders = list(dict.fromkeys(_names(sender or ())))
    check_numbers(seed, runs, jobs)
    single = runs == 1 and len(senders) <= 1
    trace = single if trace is None else trace
    windows = single if windows is None else windows
    path = find_scenario(scenario)
    judges, known = _judges(judge, prototypes)
    outcome = _rtolab.simulate(
        path,
        set=[(key, as_toml(value)) for key, value in (set or {}).items()],
        senders=senders,
        seeds=range(seed, seed + runs),
        trace=trace,
        windows=windows,
        judges=judges,
        what_if=_names(what_if),
        prototypes=known,
        jobs=jobs or 0,
        progress=progress,
    )
    return Result(str(scenario), outcome, runs=runs * max(1, len(senders)), traced=trace)


def _names(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _judges(
    given: Judge | Sequence[Judge], prototypes: Sequence[Given]
) -> tuple[list[str], list[Made]]:
    """The judges' names, all there are for "all"; and all prototypes, judges or not."""
    judges = [given] if isinstance(given, str | type | Detector) else list(given)
    looking_on = [judge for judge in judges if not isinstance(judge, str)]
    # One that is named both ways is the same one.
    known = made(dict.fromkeys((*prototypes, *looking_on)))
    names = [judge if isinstance(judge, str) else judge.name for judge in judges]
    if "all" in names:
        names = [detector["name"] for detector in _rtolab.detectors()]
        names += [prototype.name for prototype in known if prototype.kind == "detector"]
    return list(dict.fromkeys(names)), known


def check_numbers(seed: int, runs: int, jobs: int | None, what: str = "jobs") -> None:
    """Whether there can be these seeds, so many at a time, which `what` calls.

    Raises:
        Error: there cannot.
    """
    if runs < 1:
        raise Error(f"runs is {runs}: at least 1 is needed")
    if runs > MOST_RUNS:
        raise Error(f"runs is {runs}: at most {MOST_RUNS}; `rtolab sweep` keeps more on the disk")
    if jobs is not None and not 1 <= jobs <= MOST_JOBS:
        raise Error(f"{what} is {jobs}: expected 1 to {MOST_JOBS}")
    if seed < 0 or seed + runs - 1 > LARGEST_SEED:
        raise Error(f"seed is {seed}: seeds are from 0 to 2^64 - 1")


def as_toml(value: object) -> str:
    """A Python value as it would stand in a scenario."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def shipped_scenarios() -> dict[str, Path]:
    """The scenarios that come with rtolab, by name."""
    return {path.stem: path for path in sorted(_scenario_folder().glob("*.toml"))}


def scenario_title(path: Path) -> str:
    """What a scenario is about, in one line; nothing for a file that is none."""
    try:
        return str(tomllib.loads(path.read_text(encoding="utf-8")).get("title", ""))
    except (ValueError, RecursionError):
        return ""


def find_scenario(scenario: str | Path) -> Path:
    """The file of a scenario: a path as it is, or a shipped scenario by its name.

    Raises:
        Error: neither a file nor a shipped scenario.
    """
    path = Path(scenario)
    if path.exists():
        return path
    shipped = shipped_scenarios()
    if str(scenario) in shipped:
        return shipped[str(scenario)]
    known = ", ".join(shipped) or "none"
    raise Error(f"{scenario}: no such file; scenarios shipped with rtolab are {known}")


def _scenario_folder() -> Path:
    """At the top of a checkout, for messages to name it so, or inside an installed package."""
    package = Path(__file__).parent
    checkout = package.parents[1] / "scenarios"
    return checkout if checkout.is_dir() else package / "scenarios"
