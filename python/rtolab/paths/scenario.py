"""Scenario files of measured paths."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.files import check_targets, write_text
from rtolab.paths.measured import MeasuredPath, OneWay
from rtolab.text import visible

LINK = "path"
COMMENTS_AT = 37
"""The column of comments, as in the shipped scenarios."""
SHORTEST_S = 60
"""A shorter series repeats until then, in seconds."""


@dataclass(frozen=True)
class Stated:
    """What the user states because the measurement does not show it; None: nothing.

    Attributes:
        rate: the rate of both directions, such as "20 Mbit/s".
        delay: the propagation delay of each direction, such as "30 ms".
        queue: the limit of the queues, such as "100 packets".
    """

    rate: str | None = None
    delay: str | None = None
    queue: str | None = None


def write_scenario(
    path: MeasuredPath, out: Path, stated: Stated | None = None, *, inputs: Iterable[Path] = ()
) -> list[Path]:
    """Write a scenario and its series, and return their paths.

    The series are beside the scenario and begin with its name. `inputs` are the files of the
    measurement, which stay.

    Raises:
        Error: the scenario would be invalid, for example because of a stated value, or one of the
            files would overwrite an input.
        OSError: a file cannot be written.
    """
    if out.suffix != ".toml":
        raise Error(f"--out {out}: expected the name of a scenario, such as path.toml")
    written = _Scenario(path, stated or Stated(), out.stem)
    text = "".join(f"{line}\n" for line in written.lines())
    files = {out.parent / name: content for name, content in written.series.items()} | {out: text}
    check_targets([(f"--out {out}", file) for file in files], inputs)
    _check(files, out)
    for file, content in files.items():
        write_text(file, content)
    return [out, *(file for file in files if file != out)]


def _check(files: dict[Path, str], out: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for file, content in files.items():
            (Path(folder) / file.name).write_text(content, encoding="utf-8")
        try:
            _rtolab.check(Path(folder) / out.name)
        except Error as error:
            temporary, wanted = f"{folder}/{out.stem}", str(out.with_suffix(""))
            raise Error(str(error).replace(temporary, wanted)) from None


@dataclass
class _Scenario:
    """A scenario and the series that it names, which `lines` adds."""

    path: MeasuredPath
    stated: Stated
    stem: str
    series: dict[str, str] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        path = self.path
        yield from (f"# {_comment(line)}".rstrip() for line in path.origin)
        yield ""
        yield f"title = {_quoted(path.title)}"
        yield from self._duration()
        yield ""
        yield "[[link]]"
        yield f'name = "{LINK}"'
        yield 'between = ["server", "client"]'
        yield from self._stated()
        yield from self._keys(path.both, "")
        for name, part in (("forward", path.forward), ("backward", path.backward)):
            lines = list(self._keys(part, name))
            if lines:
                table = [] if lines[0] == "" else ["", f"[link.{name}]"]
                yield from (*table, *lines)
        yield ""
        yield "[[flow]]".ljust(COMMENTS_AT) + "# not measured: what you want to know about"
        yield 'name = "download"'
        yield 'from = "server"'
        yield 'to = "client"'
        yield 'bytes = "5 MB"'

    def _duration(self) -> Iterator[str]:
        length = self.path.duration_s
        if length >= SHORTEST_S or not self._repeats():
            yield f'duration = "{_number(length)} s"'
        else:
            line = f'duration = "{SHORTEST_S} s"'.ljust(COMMENTS_AT)
            yield f"{line}# the series repeats after {_number(length)} s"

    def _repeats(self) -> bool:
        """Outages happen once, and so do the delays around them."""
        return not any(part.outages for part in self._parts())

    def _parts(self) -> tuple[OneWay, ...]:
        return self.path.both, self.path.forward, self.path.backward

    def _stated(self) -> Iterator[str]:
        measured = {
            "rate": any(part.opportunities or part.rates for part in self._parts()),
            "delay": any(part.delays for part in self._parts()),
            "queue": False,
        }
        for key, value in asdict(self.stated).items():
            if value is not None and measured[key]:
                raise Error(f"--{key}: the measurement has the {key} itself; expected none")
            if value is not None:
                yield f"{key} = {_quoted(value)}".ljust(COMMENTS_AT) + "# stated, not measured"

    def _keys(self, part: OneWay, direction: str) -> Iterator[str]:
        """The keys of the link, or of a direction."""
        begin = f"{self.stem}.{direction}" if direction else self.stem
        if part.opportunities:
            name = f"{begin}.opportunities"
            self.series[name] = "".join(f"{at}\n" for at in part.opportunities)
            yield f"rate_trace = {_quoted(name)}"
        if part.light:
            name = f"{begin}.light"
            lines = (f"{at} {' '.join(map(str, train))}\n" for at, train in part.light)
            self.series[name] = "# milliseconds: time, opportunities after it\n" + "".join(lines)
            yield f"light_trace = {_quoted(name)}"
        if len(part.rates) == 1:
            yield f'rate = "{part.rates[0][1]:.0f} bit/s"'
        elif part.rates:
            name = f"{begin}.rates"
            lines = (f"{_number(at)} {rate:.0f} bit/s\n" for at, rate in part.rates)
            self.series[name] = "# seconds, rate\n" + "".join(lines)
            yield f"rate_trace = {_quoted(name)}"
        if part.delays:
            name = f"{begin}.delays"
            self.series[name] = _series(part.delays, "seconds, milliseconds")
            of = ', of = "round-trip"' if part.round_trip else ""
            repeats = ", repeats = true" if self._repeats() and len(part.delays) > 1 else ""
            yield f"delay_trace = {{ file = {_quoted(name)}{of}{repeats} }}"
        if part.reorders:
            yield 'order = "free"'
        if part.loss:
            yield f"loss = {_number(part.loss)}"
        if part.outages:
            yield ""
            yield f"[link.{direction}.outages]" if direction else "[link.outages]"
            yield "scripted = ["
            for at, length in part.outages:
                yield f'    {{ at = "{_number(at)} s", for = "{_number(length)} s" }},'
            yield "]"


def _series(steps: Sequence[tuple[float, float]], columns: str) -> str:
    lines = (f"{_number(at)} {_number(value)}\n" for at, value in steps)
    return f"# {columns}\n" + "".join(lines)


def _comment(text: str) -> str:
    """A text as one line; the name of a file may hold ends of lines."""
    return visible(" ".join(text.splitlines()))


def _quoted(text: str) -> str:
    # What JSON leaves as it is and TOML forbids.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _number(value: float) -> str:
    """A decimal number without an exponent, to a millionth."""
    return f"{value:.6f}".rstrip("0").rstrip(".")
