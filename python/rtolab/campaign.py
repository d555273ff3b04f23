"""Campaigns of experiments: finished ones are kept, interrupted ones continue.

The folder of an experiment contains the results of its runs and a record, which is written last and
renamed into place. The record contains a hash of everything that the results depend on. A later run
with the same hash reuses it.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any

from rtolab import _rtolab
from rtolab.experiments.base import Experiment
from rtolab.experiments.documents import document, reproduction
from rtolab.experiments.measured import with_variant
from rtolab.experiments.reproduce import Reproduction, reproduce, runs_of
from rtolab.experiments.sharing import SharedRuns
from rtolab.files import stem, write_table, write_text
from rtolab.result import Result
from rtolab.run import find_scenario

Progress = Callable[[int, int], object]

RECORD = "finished.json"
COMPRESSION = 6
ONLY_SHOW = {"cli", "serve", "tables", "report.py"}
"""Folders and files of the package that affect neither numbers nor figures."""


@dataclass(frozen=True)
class Settings:
    """Parameters that the results of experiments depend on.

    Attributes:
        seed: the first seed.
        runs: the runs of each variant; `None` for the default of each experiment.
        assume: values that replace assumed ones, by scenario key.
        quick: fewer and shorter runs, and no files of figures and traces.
        whole: are all experiments run together?
        sensitivity: are the alternatives run, too?
    """

    seed: int = 1
    runs: int | None = None
    assume: Mapping[str, str] = field(default_factory=dict)
    quick: bool = False
    sensitivity: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure of the report: its caption, and its Vega-Lite in gzip and base64."""

    name: str
    caption: str
    packed: str


@dataclass
class Files:
    """The files of an experiment, with their folders."""

    pictures: list[Path] = field(default_factory=list)
    captures: list[Path] = field(default_factory=list)
    data: list[Path] = field(default_factory=list)

    def __iter__(self) -> Any:
        return iter((*self.pictures, *self.captures, *self.data))


@dataclass(frozen=True)
class Part:
    """A finished experiment, as input of the report.

    Attributes:
        reproduction: its results.
        settings: its parameters.
        figures: its figures.
        files: the files in its folder.
        kept: did an earlier run compute it?
    """

    reproduction: Reproduction
    settings: Settings
    figures: tuple[Figure, ...]
    files: Files
    kept: bool = False


@dataclass(frozen=True)
class Campaign:
    """Runs experiments and stores their results.

    Attributes:
        out: the folder with a folder for each experiment.
        settings: the parameters of the results.
        jobs: the number of threads; by default one per processor.
        fresh: are stored results ignored?
    """

    out: Path
    settings: Settings
    jobs: int | None = None
    fresh: bool = False

    def finished(self, experiment: Experiment) -> Part | None:
        """The stored results of an experiment, if they are up to date."""
        record = _record(self._folder(experiment))
        if self.fresh or record.get("key") != key(experiment, self.settings):
            return None
        part = self._part(experiment, record, kept=True)
        return part if all(path.exists() for path in part.files) else None

    def stored(self, experiment: Experiment) -> Part:
        """The results of an experiment that another process has just run."""
        return self._part(experiment, _record(self._folder(experiment)), kept=False)

    def run(
        self,
        experiment: Experiment,
        progress: Progress | None = None,
        shared: SharedRuns | None = None,
    ) -> Part:
        """Run an experiment, draw its figures, and store both in its folder.

        Args:
            experiment: the experiment.
            progress: called from time to time with the finished runs and all runs.
            shared: runs of experiments that ran before.

        Raises:
            Error: the scenario rejects a value that is assumed.
            OSError: a file cannot be written.
        """
        settings, folder = self.settings, self._folder(experiment)
        # Create the folder first, to fail before the runs.
        folder.mkdir(parents=True, exist_ok=True)
        _clear(folder)
        if experiment.variants:
            Thread(target=_warm_up, args=(self.settings.quick,), daemon=True).start()
        done = reproduce(
            experiment,
            seed=settings.seed,
            runs=settings.runs,
            jobs=self.jobs,
            assume=settings.assume,
            quick=settings.quick,
            whole=settings.whole,
            sensitivity=settings.sensitivity,
            progress=progress,
            shared=shared,
        )
        files = Files()
        figures = self._draw(done, folder, files)
        written = document(done)
        _write_data(done, written, folder, files)
        record = {
            "key": key(experiment, settings),
            "document": written,
            "figures": [asdict(figure) for figure in figures],
            "files": {
                name: [path.relative_to(folder).as_posix() for path in paths]
                for name, paths in vars(files).items()
            },
        }
        packed = json.dumps(record)
        write_text(folder / RECORD, packed)
        # Read new results from their record, too, so that they look like stored ones.
        return self._part(experiment, json.loads(packed), kept=False)

    def _folder(self, experiment: Experiment) -> Path:
        return self.out / experiment.id

    def _part(self, experiment: Experiment, record: dict[str, Any], *, kept: bool) -> Part:
        folder = self._folder(experiment)
        return Part(
            reproduction(experiment, record["document"]),
            self.settings,
            tuple(Figure(**figure) for figure in record["figures"]),
            Files(
                **{
                    name: [folder / path for path in paths]
                    for name, paths in record["files"].items()
                }
            ),
            kept,
        )

    def _draw(self, done: Reproduction, folder: Path, files: Files) -> list[Figure]:
        """Draws the figures; writes them to files unless `quick`, which is the slowest part.

        Altair's validation takes a fifth of the rest; it is left to the tests.
        """
        from altair.utils.schemapi import debug_mode  # noqa: PLC0415

        from rtolab.plot import save_spec, sharing  # noqa: PLC0415
        from rtolab.plot.experiment_figures import pictures  # noqa: PLC0415

        drawn = []
        for picture in pictures(done):
            with debug_mode(False), sharing():
                spec = picture.draw().to_dict(validate=False)
            if not self.settings.quick:
                files.pictures.append(save_spec(spec, folder / picture.name))
            drawn.append(Figure(picture.name, picture.caption, pack(spec)))
        return drawn


def _warm_up(quick: bool) -> None:
    """Loads the libraries of the figures while the simulator leaves Python idle."""
    from rtolab import plot  # noqa: PLC0415

    if not quick:
        plot.warm_up()


def _record(folder: Path) -> dict[str, Any]:
    """The record in a folder; empty if the experiment is not finished."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _clear(folder: Path) -> None:
    """Remove the results of an earlier run: first the record, then the files that it names.

    They could be mistaken for new results. Other files stay.
    """
    files = _record(folder).get("files")
    (folder / RECORD).unlink(missing_ok=True)
    named = files.values() if isinstance(files, dict) else ()
    for path in (folder / name for names in named for name in names):
        if path.resolve().is_relative_to(folder.resolve()):
            path.unlink(missing_ok=True)


def pack(spec: Mapping[str, Any]) -> str:
    """A chart, compressed for the report: a trace has thousands of similar points.

    The strongest compression takes three times as long, for 5 % less.
    """
    text = json.dumps(spec, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(text, COMPRESSION, mtime=0)).decode()


def key(experiment: Experiment, settings: Settings) -> str:
    """A hash of everything that the results depend on."""
    parts = asdict(settings) | {
        "experiment": experiment.id,
        "runs": runs_of(experiment, settings.runs, quick=settings.quick),
        "sensitivity": settings.sensitivity and bool(experiment.alternatives),
        "whole": settings.whole and not settings.quick and bool(experiment.whole_set),
        "program": _program(),
        "scenarios": [
            find_scenario(name).read_text(encoding="utf-8") for name in _scenarios(experiment)
        ],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _scenarios(experiment: Experiment) -> list[str]:
    names = {variant.scenario or experiment.scenario for variant in experiment.variants}
    return sorted(name for name in names if name)


@cache
def _program() -> str:
    """A hash of all code that computes; experiments share code, so it covers all of them."""
    package = Path(__file__).parent
    sources = [
        path
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] not in ONLY_SHOW
    ]
    found = hashlib.sha256()
    for path in (*sorted(sources), Path(_rtolab.__file__)):
        found.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def _write_data(done: Reproduction, written: Mapping[str, Any], folder: Path, files: Files) -> None:
    """Writes the document and the tables: `connections` for statistics, all tables for traces.

    Captures have headers only: with the payload those of one experiment would take 400 MB. With
    `quick` there are neither captures nor tables of packets, which take longer than the traces.
    """
    result = folder / "result.json"
    write_text(result, json.dumps(written, indent=2) + "\n")
    files.data.append(result)
    if done.experiment.is_trace:
        if not done.quick:
            _write_traces(done, folder, files)
    elif done.of:
        runs = folder / "connections.parquet"
        tables = {variant: mine.every_connection for variant, mine in done.of.items()}
        write_table(runs, with_variant(tables, as_enum=False))
        files.data.append(runs)


def _write_traces(done: Reproduction, folder: Path, files: Files) -> None:
    for place, traced in _traced(done, folder).items():
        for path in traced.write(place, headers=True):
            (files.captures if path.suffix == ".pcapng" else files.data).append(path)


def _traced(done: Reproduction, folder: Path) -> dict[Path, Result]:
    """The results of packet traces with their folders; several results have one folder each."""
    results: dict[int, tuple[Path, Result]] = {}
    for key_, mine in done.of.items():
        results.setdefault(id(mine.result), (folder / stem(key_), mine.result))
    places = dict(results.values())
    return places if len(places) > 1 else dict.fromkeys([folder], *places.values())
