"""Runs of a scenario."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.prototype import Detector, EnginePrototype, Given, made
from rtolab.result import Result
from rtolab.suites import Suite

Progress = Callable[[int, int], object]
"""Called with the number of finished runs and of all runs."""

Judge = str | type[Detector] | Detector
"""A passive detector: its name, or one in Python."""

LARGEST_SEED = 2**64 - 1
MOST_RUNS = 10**7
"""The most runs of one call, whose results are all in memory."""
MOST_JOBS = 4096
"""The most threads, or concurrent runs on kernels."""


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
    confined: bool = False,
) -> Result:
    """Run a scenario, with each sender on each seed.

    The same arguments give the same tables and captures, on any machine and with any `jobs`.

    Args:
        scenario: the path of a scenario, or the name of an included one (`frto2002-delays`).
        sender: a sender specification such as "sack+frto", or several, which run on the same seeds;
            by default the scenario's own. Flows with a sender of their own keep it.
        seed: the first seed; run i of a sender uses `seed + i`, so senders are paired by seed.
        runs: the number of seeds, for each sender.
        set: values that replace the scenario's, by dotted key: {"link.wireless.loss": 0.02}.
        trace: record every packet; by default for a single run.
        windows: record the windows of the senders; by default for a single run.
        judge: passive detectors of every sender: names, subclasses of `Detector`, objects of
            these, or "all".
        what_if: senders that replay the rest of the run, each in a fork of its own, from every
            timeout.
        prototypes: classes in Python that specifications may name: detectors in senders and
            `judge` ("sack+early"), responses in senders ("sack+eifel:careful") and `tcp.response`,
            stages in links ({"link.radio.stage": "lossy"}).
        jobs: the number of threads; by default one per processor.
        progress: called from time to time with the number of finished runs and of all runs.
        confined: refuse a scenario that names files outside of its own folder.

    Returns:
        The tables of all runs, senders before seeds.

    Raises:
        Error: the scenario, a sender, a key or a value is invalid, no flow uses the senders, or
            a prototype raised an exception, which is the cause.
        OSError: the scenario cannot be read.
        MemoryError: the trace does not fit into memory.

    Example:
        >>> result = run("frto2002-delays", sender=["sack", "sack+frto"], runs=30)
        >>> result.connections.group_by("sender").agg(pl.median("elapsed_s"))
    """
    # A sender that is named twice would repeat its runs.
    senders = list(dict.fromkeys(_names(sender or ())))
    check_numbers(seed, runs, jobs)
    single = runs == 1 and len(senders) <= 1
    trace = single if trace is None else trace
    windows = single if windows is None else windows
    path = find_scenario(scenario)
    judges, known = passive_detectors(judge, prototypes)
    keys = [(key, as_toml(value)) for key, value in (set or {}).items()]
    if senders:
        _rtolab.check(path, keys, senders, known, confined, may_override=True)
    outcome = _rtolab.simulate(
        path,
        set=keys,
        senders=senders,
        seeds=range(seed, seed + runs),
        trace=trace,
        windows=windows,
        judges=judges,
        what_if=_names(what_if),
        prototypes=known,
        jobs=jobs or 0,
        progress=progress,
        confined=confined,
    )
    return Result(str(scenario), outcome, runs=runs * max(1, len(senders)), traced=trace)


def _names(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def passive_detectors(
    given: Judge | Sequence[Judge], prototypes: Sequence[Given]
) -> tuple[list[str], list[EnginePrototype]]:
    """The names of the passive detectors ("all" stands for every one), and all prototypes."""
    judges = [given] if isinstance(given, str | type | Detector) else list(given)
    looking_on = [judge for judge in judges if not isinstance(judge, str)]
    # A prototype that is passed both ways is the same one.
    known = made(dict.fromkeys((*prototypes, *looking_on)))
    names = [judge if isinstance(judge, str) else judge.name for judge in judges]
    if "all" in names:
        names = [detector["name"] for detector in _rtolab.detectors()]
        names += [prototype.name for prototype in known if prototype.kind == "detector"]
    return list(dict.fromkeys(names)), known


def check_numbers(seed: int, runs: int, jobs: int | None, what: str = "jobs") -> None:
    """Raises Error if these numbers are out of range; `what` is the name of `jobs` in messages."""
    if runs < 1:
        raise Error(f"runs is {runs}: at least 1 is needed")
    if runs > MOST_RUNS:
        raise Error(f"runs is {runs}: at most {MOST_RUNS}; `rtolab sweep` keeps more on the disk")
    if jobs is not None and not 1 <= jobs <= MOST_JOBS:
        raise Error(f"{what} is {jobs}: expected 1 to {MOST_JOBS}")
    if seed < 0 or seed + runs - 1 > LARGEST_SEED:
        raise Error(f"seed is {seed}: seeds are from 0 to 2^64 - 1")


def as_toml(value: object) -> str:
    """A Python value as scenario text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def included_scenarios() -> dict[str, Path]:
    """The paths of the shipped scenarios, by name."""
    return {path.stem: path for path in sorted(_scenario_folder().glob("*.toml"))}


def scenario_title(path: Path) -> str:
    """The title of a scenario; empty if the file is not a scenario."""
    try:
        return str(tomllib.loads(path.read_text(encoding="utf-8")).get("title", ""))
    except (ValueError, RecursionError):
        return ""


def scenario_origin(path: Path) -> str:
    """Where the numbers of a scenario come from, as the comment at its beginning says.

    "measured", "drawn by hand" if they are illustrative, in part at least, or else "published".
    """
    begin = path.read_text(encoding="utf-8").partition("\n\n")[0].lower()
    if "measured by `rtolab record" in begin:
        return "measured"
    is_drawn = any(word in begin for word in ("illustrative", "drawn by hand"))
    return "drawn by hand" if is_drawn else "published"


def find_scenario(scenario: str | Path) -> Path:
    """The file of a scenario: an existing path, or an included scenario of that name.

    Raises:
        Error: neither a file nor an included scenario.
    """
    path = Path(scenario)
    if path.exists():
        return path
    # Experiments run thousands of times. To list the folder takes as long as a short run.
    included = _scenario_folder() / f"{scenario}.toml"
    if path.name == str(scenario) and included.exists():
        return included
    beside = f"{scenario}.toml"
    known = beside if Path(beside).exists() else _nearest_file(path)
    from rtolab.conform.suite import suite_of  # noqa: PLC0415

    if not known and (of := suite_of(str(scenario))):
        suite = "" if of is Suite.FIFTY else f"--suite {of} "
        writes = f"rtolab conform {suite}--only {scenario} --write-scenarios FOLDER"
        raise Error(f"{scenario} is a scenario of `conform`; `{writes}` writes its file")
    known = known or _rtolab.suggest(str(scenario), [*included_scenarios()])
    raise Error(f"{scenario}: found no such file or shipped scenario; expected {known}")


def _nearest_file(path: Path) -> str:
    """The scenario file beside a misspelt path whose name is nearest to it; empty if none is."""
    if path.suffix != ".toml" and path.parent == Path():
        return ""
    try:
        files = sorted(other.name for other in path.parent.glob("*.toml"))
    except OSError:
        return ""
    near = get_close_matches(path.name, files, n=1)
    return str(path.parent / near[0]) if near else ""


def _scenario_folder() -> Path:
    """The folder of a checkout, so that messages name it, or that of the installed package."""
    package = Path(__file__).parent
    checkout = package.parents[1] / "scenarios"
    return checkout if checkout.is_dir() else package / "scenarios"
