"""Results of runs: tables, figures and captures."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rtolab import _rtolab
from rtolab._rtolab import Error, Outcome
from rtolab.files import write_bytes, write_table, write_text
from rtolab.text import counted

if TYPE_CHECKING:
    import polars as pl

    from rtolab.plot import Plots

TABLES = tuple(name for name, _ in _rtolab.TABLES)
"""The names of the tables."""

PLACES = ("sender", "receiver")
"""The hosts at which traces are captured."""


class Result:
    """The tables of one or more runs.

    Each table is a polars frame. It has the Arrow PyCapsule interface, so
    `pyarrow.table(result.connections)` and `pandas.DataFrame.from_arrow(result.connections)` take
    it without a copy. Every table begins with the columns `run` (counted from 0, senders before
    seeds), `seed` and `sender`. Columns in `_s` are seconds, in `_bps` bits per second; windows,
    lengths and sequence numbers are bytes, and sequence numbers count from the SYN, which is 0.

    Attributes:
        scenario: the path or name of the scenario.
        runs: the number of runs.
        traced: whether packets were recorded.
    """

    # Set by the package, so that this module imports neither figures nor text tables.
    _plots: ClassVar[Callable[[Result], Plots]]
    _html: ClassVar[Callable[[Result], str]]

    def __init__(self, scenario: str, outcome: Outcome, *, runs: int, traced: bool) -> None:
        self.scenario = scenario
        self.runs = runs
        self.traced = traced
        self._outcome = outcome

    def __repr__(self) -> str:
        return f"<Result of {self.scenario}: {counted(self.runs, 'run')}>"

    def _repr_html_(self) -> str:
        return self._html()

    @property
    def effort(self) -> dict[str, float | None]:
        """The effort of all runs together: `set_up_s`, `run_s`, `events` and so on."""
        return self._outcome.effort

    if TYPE_CHECKING:  # Every table is a property, made below from the list of tables.

        def __getattr__(self, table: str) -> pl.DataFrame: ...

    def keep_only(self, *tables: str) -> None:
        """Free all other tables, for callers that keep many results."""
        kept = {name: getattr(self, name) for name in tables}
        for name in TABLES:
            self.__dict__.pop(name, None)
        self.__dict__.update(kept)
        del self._outcome

    @property
    def plot(self) -> Plots:
        """The figures of this result."""
        return self._plots()

    def sender(self, run: int) -> str:
        """The sender specification of a run."""
        self.check_run(run)
        of_run = self.connections["run"] == run
        return str(self.connections.filter(of_run)["sender"][0])

    def pcapng(self, run: int = 0, place: str = "sender", *, headers: bool = False) -> bytes:
        """The capture of a traced run at one host.

        Args:
            run: which run, from 0.
            place: "sender" or "receiver", the hosts that send and receive the data.
            headers: are packets cut after their headers, for a shorter file? Their payload is
                zeros. Without it, checksums cannot be verified.

        Raises:
            Error: no such run or place, or the run was not traced.
        """
        if place not in PLACES:
            raise Error(f"no place `{place}`: captures are taken at sender and receiver")
        if not self.traced:
            raise Error("these runs were not traced: run with trace=True for captures")
        self.check_run(run)
        return self._outcome.pcapng(run, place, headers)

    def packetdrill(self, run: int = 0) -> str:
        """The first flow of a traced run as a packetdrill script for the sending host.

        Args:
            run: which run, from 0.

        Raises:
            Error: no such run, or it was not traced.
        """
        if not self.traced:
            raise Error("these runs were not traced: run with trace=True for scripts")
        self.check_run(run)
        return self._outcome.packetdrill(run)

    def write_scripts(self, folder: str | Path) -> list[Path]:
        """Write a packetdrill script for every traced run, and return the paths.

        Args:
            folder: made if it is not there; files of the same names are replaced.

        Raises:
            Error: the runs were not traced.
            OSError: a file cannot be written.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for run in range(self.runs):
            path = folder / f"{self._stem(run)}.pkt"
            write_text(path, self.packetdrill(run))
            written.append(path)
        return written

    def write(self, folder: str | Path, *, headers: bool = False) -> list[Path]:
        """Write every table as Parquet, and for traced runs packets and a pcapng per host.

        Args:
            folder: made if it is not there; files of the same names are replaced.
            headers: do captures have headers only?

        Returns:
            The files written.

        Raises:
            OSError: a file cannot be written.
        """
        written = self.write_tables(folder)
        return written + (self._write_captures(Path(folder), headers) if self.traced else [])

    def write_tables(self, folder: str | Path) -> list[Path]:
        """Write every table as Parquet, like `write` but without captures.

        Runs that were not traced have no table `segments`.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for name in TABLES:
            if name == "segments" and not self.traced:
                continue
            path = folder / f"{name}.parquet"
            write_table(path, getattr(self, name))
            written.append(path)
        return written

    def _write_captures(self, folder: Path, headers: bool) -> list[Path]:
        written = []
        for run in range(self.runs):
            for place in PLACES:
                path = folder / f"{self._stem(run)}-{place}.pcapng"
                write_bytes(path, self.pcapng(run, place, headers=headers))
                written.append(path)
        return written

    def _stem(self, run: int) -> str:
        digits = len(str(self.runs - 1))
        return f"run-{run:0{digits}}-{file_name(self.sender(run))}"

    def check_run(self, run: int) -> None:
        """Raises Error if there is no such run."""
        if run not in range(self.runs):
            raise Error(f"no run {run}: there are {self.runs}, counted from 0")


def _property(name: str, about: str) -> cached_property[pl.DataFrame]:
    def table(result: Result) -> pl.DataFrame:
        from polars import DataFrame  # noqa: PLC0415  (takes longer to load than all of rtolab)

        return DataFrame(result._outcome.table(name))

    table.__doc__ = about
    made = cached_property(table)
    made.__set_name__(Result, name)
    return made


for _name, _about in _rtolab.TABLES:
    setattr(Result, _name, _property(_name, _about))


def file_name(sender: str) -> str:
    """A sender specification as part of a file name: colons become hyphens."""
    return sender.replace(":", "-")
