"""Whatever a command or a function is given: it says what is wrong, in words or as an exception.

Never a defect (InternalError, PanicException, SystemError), and of a command never a traceback.
"""

from __future__ import annotations

import io
import os
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer.main
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rtolab
from explorer_client import CAPTURE
from rtolab import _rtolab, cli, diagnosis, emulation, sweep
from rtolab._rtolab import InternalError
from rtolab.run import shipped_scenarios

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Commands.

COMMANDS = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
BEGIN = {
    "demo": ["--help"],
    "explain": ["--help"],
    "list": ["--help"],
    "schema": ["--help"],
    "run": ["nowhere"],
    "reproduce": ["nowhere"],
    "emulate": ["nowhere"],
    "compare": ["nowhere"],
    "gateway": ["--netns", "rtolab-nowhere"],
    "diagnose": ["nowhere"],
    "conform": ["--only", "nowhere"],
    "sweep": ["nowhere"],
    "serve": ["--browse", "nowhere"],
}
"""What a command is given besides, so that it does not go to work: it would be long."""
NUMBERS = ["nan", "inf", "-inf", "-1", "1e308", "٣", str(2**63), str(2**64), str(10**40), ""]
TEXTS = ["", "=", "a=", "\udcff", "a=\udcff", "x" * 5000, "[" * 500, "/", "."]
"""What is no UTF-8 arrives so; NUL cannot be passed to a command."""


def ended(command: str, *arguments: str) -> tuple[object, str]:
    """How a command ended, and what it complained of."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            try:
                cli.app([command, *arguments])
            except BaseException as error:
                cli.commands._explain(error)
                raise
        except SystemExit as left:
            return left.code, err.getvalue()
    return 0, err.getvalue()


def test_every_command_is_tried() -> None:
    assert set(BEGIN) == set(COMMANDS)


def options() -> Iterator[tuple[str, str, type]]:
    """Every option that takes a value: its command, its name, its type."""
    for command, about in COMMANDS.items():
        for one in about.params:
            if one.param_type_name == "option" and not one.is_flag:
                yield command, one.opts[0], one.type_descriptor.annotation


@pytest.mark.parametrize(("command", "option", "kind"), list(options()))
def test_whatever_an_option_is_given_it_is_told(
    tmp_path: Path, command: str, option: str, kind: type
) -> None:
    with chdir(tmp_path):
        for value in NUMBERS if kind in (int, float) else TEXTS:
            code, told = ended(command, *BEGIN[command], option, value)
            assert code == 2 or BEGIN[command] == ["--help"], (value, told)
            assert "Traceback" not in told
            assert "defect" not in told


@pytest.mark.parametrize("command", ["run", "diagnose", "sweep", "reproduce", "compare", "list"])
def test_whatever_a_command_is_given_it_is_told(tmp_path: Path, command: str) -> None:
    deep = tmp_path / "deep.toml"
    deep.write_text("scenario = " + "[" * 100_000)
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'title = "\xff"')
    with chdir(tmp_path):
        for value in (*TEXTS, str(deep), str(latin), os.fsdecode(b"\xff.toml"), "/dev/null"):
            code, told = ended(command, value)
            assert code == 2, (value, told)
            assert "Traceback" not in told
            assert "defect" not in told


def test_numbers_that_one_cannot_wait_for_are_refused() -> None:
    for option in ("--idle", "--give-up", "--duration"):
        for number in ("nan", "inf"):
            code, told = ended("gateway", "--netns", "rtolab-nowhere", option, number)
            assert code == 2
            assert option in told


# Functions.

SMALL = shipped_scenarios()["tail"]
"""A scenario that is over at once."""
REFUSED = (rtolab.Error, TypeError, AttributeError, ValueError, OverflowError, KeyError, OSError)
"""What a function may raise: the last but the first of what is of another type."""
IN_WORDS = (rtolab.Error, OSError)
JUNK: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(
        [
            *(None, True, float("nan"), float("inf"), -float("inf"), -0.0, 1e308, 5e-324),
            *(-1, 0, 2**31, 2**32, 2**63, 2**64 - 1, 2**64, 10**40),
            *("", "\0", "\ud800", "x" * 10_000, "sack+" * 200, "tail", "all", "/", "/dev/null"),
            *(b"", b"\xff", [], {}, (), [[]], object(), Path(), print, int),
        ]
    ),
    st.text(max_size=20),
    st.integers(),
    st.floats(),
    st.lists(st.text(max_size=5) | st.integers() | st.none(), max_size=3),
    st.dictionaries(st.text(max_size=12), st.text(max_size=12) | st.floats(), max_size=3),
)
KEYS = st.sampled_from(
    ["link.path.rate", "link.path.delay", "tcp.rto.min", "tcp.mss", "duration", "flow.bytes", "x"]
)
OFTEN = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def refused(work: Callable[[], object], told: tuple[type[Exception], ...] = REFUSED) -> str:
    """Do it, and let it be refused; what else it raises is a defect. What it said."""
    try:
        work()
    except InternalError:
        raise
    except told as error:
        return str(error)
    return ""


KEYWORDS: dict[str, st.SearchStrategy[Any]] = {
    "sender": JUNK | st.sampled_from(["sack+frto", ["reno", "sack"]]),
    "seed": JUNK,
    "set": JUNK | st.dictionaries(KEYS, JUNK, max_size=2),
    "trace": JUNK,
    "windows": JUNK,
    "judge": JUNK,
    "what_if": JUNK,
    "prototypes": JUNK,
    "progress": JUNK,
}
"""Of `run`; `runs` and `jobs` are tried beside, for many of them are allowed."""


class EnoughError(Exception):
    """A run that somebody asked for would take long."""


def not_for_long(_done: int, _total: int) -> None:
    """Ends a long run soon."""
    not_for_long.asked += 1  # type: ignore[attr-defined]
    if not_for_long.asked > 10:  # type: ignore[attr-defined]
        raise EnoughError


@OFTEN
@given(given=st.fixed_dictionaries({}, optional=KEYWORDS))
def test_run_refuses_in_words(given: dict[str, Any]) -> None:
    not_for_long.asked = 0  # type: ignore[attr-defined]
    with suppress(EnoughError):
        refused(lambda: rtolab.run(SMALL, **{"progress": not_for_long} | given))


@OFTEN
@given(number=JUNK.filter(lambda junk: not isinstance(junk, int) or junk > 10**9 or junk < 1))
def test_run_refuses_counts(number: Any) -> None:
    refused(lambda: rtolab.run(SMALL, runs=number))
    refused(lambda: rtolab.run(SMALL, jobs=number))
    refused(lambda: rtolab.run(SMALL, seed=number))


def test_what_is_refused_has_the_name_that_it_was_given() -> None:
    with pytest.raises(rtolab.Error, match="parallel is 0: expected 1 to"):
        emulation.emulate(SMALL, parallel=0)


@OFTEN
@given(junk=JUNK, more=JUNK)
def test_the_extension_refuses(tmp_path: Path, junk: Any, more: Any) -> None:
    out = tmp_path / "out"
    calls: list[Callable[[], object]] = [
        lambda: _rtolab.check(junk),
        lambda: _rtolab.check(SMALL, junk, more),
        lambda: _rtolab.check(SMALL, [(junk, more)]),
        lambda: _rtolab.check(SMALL, [], [junk], [more]),
        lambda: _rtolab.simulate(SMALL, seeds=junk, set=more),
        lambda: _rtolab.simulate(SMALL, seeds=[junk], judges=more),
        lambda: _rtolab.simulate(SMALL, seeds=[1], judges=[junk], what_if=[more]),
        lambda: _rtolab.branch(SMALL, timeout=junk, other=more),
        lambda: _rtolab.branch(SMALL, timeout=timeout(junk, more)),
        lambda: _rtolab.branch(SMALL, timeout=timeout(1.0, 1) | {"seed": junk, "flow": more}),
        lambda: _rtolab.trace(CAPTURE, junk, more),
        lambda: _rtolab.trace(CAPTURE, [junk, 1], more),
        lambda: _rtolab.what_if(CAPTURE, junk),
        lambda: _rtolab.infer_scenario(CAPTURE, junk, steady=more),
        lambda: _rtolab.annotate(CAPTURE, out, {junk: more}),
        lambda: _rtolab.annotate(CAPTURE, out, {1: junk}),
        lambda: _rtolab.gateway(junk, ready=more),
        lambda: _rtolab.emulate_flows(SMALL, variants=junk, seeds=more),
    ]
    if junk != "-":  # Standard input.
        calls.append(lambda: _rtolab.diagnose(junk, progress=more))
    for call in calls:
        refused(call)


def timeout(at_s: Any, seq: Any) -> Any:
    return {"sender": "reno", "seed": 1, "flow": "reply", "at_s": at_s, "seq": seq}


@OFTEN
@given(junk=JUNK)
def test_results_refuse(tmp_path: Path, result: rtolab.Result, junk: Any) -> None:
    refused(lambda: result.pcapng(junk))
    refused(lambda: result.pcapng(0, junk))
    refused(lambda: result.packetdrill(junk))
    refused(lambda: result.sender(junk))
    refused(lambda: result.plot.time_sequence(junk))
    refused(lambda: result.plot.time_sequence(0, junk))
    with chdir(tmp_path):
        refused(lambda: result.write_tables(junk))


@pytest.fixture(scope="module")
def result() -> rtolab.Result:
    return rtolab.run(SMALL, trace=True)


TOML = st.recursive(
    st.one_of(
        st.sampled_from(["nan", "inf", "-1", "1e400", "9" * 30, "true", "1979-05-27", '""', "''"]),
        st.sampled_from(['"sack"', '"tail"', '"connections"', '"/"', '"median"', "1", "1000000"]),
    ),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda values: f"[{', '.join(values)}]")
        | st.dictionaries(st.sampled_from(["of", "measure", "x"]), inner, max_size=2).map(
            lambda table: f"{{{', '.join(f'{key} = {value}' for key, value in table.items())}}}"
        )
    ),
    max_leaves=4,
)
SWEEPS = st.dictionaries(
    st.sampled_from([*sweep.definition.KNOWN, "grid.duration", "until.measure", "x"]), TOML
)


@OFTEN
@given(keys=SWEEPS)
def test_a_sweep_is_read_or_refused(tmp_path: Path, keys: dict[str, str]) -> None:
    file = tmp_path / "sweep.toml"
    for scenario in ({}, {"scenario": '"tail"'}):
        lines = (f"{key} = {value}\n" for key, value in (keys | scenario).items())
        file.write_text("".join(lines))
        refused(lambda: sweep.load(file), IN_WORDS)


@pytest.mark.parametrize("written", ["x = {0}1", "{0}a = 1", "[{0}a]", "x = {{{0}a = 1}}"])
@pytest.mark.parametrize("part", ["[", "{a=", "a.", "'' . ", '"a\\"b".'])
def test_however_deep_a_sweep_is_nested_it_is_refused_at_once(
    tmp_path: Path, written: str, part: str
) -> None:
    """In the square of the depth, which the reader of TOML would take, it would be days."""
    file = tmp_path / "sweep.toml"
    for times in (10, 85, 10_000, 600_000):
        file.write_text(written.format(part * times))
        told = refused(lambda: sweep.load(file), IN_WORDS)
        assert str(file) in told


def test_a_sweep_of_long_numbers_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    for number in ("9" * 5000, "0x" + "f" * 5000, "9" * 5000 + ".0", "1e" + "9" * 5000):
        file.write_text(f'scenario = "tail"\nruns = {number}\n')
        told = refused(lambda: sweep.load(file), IN_WORDS)
        assert str(file) in told
        assert len(told) < 2000


@OFTEN
@given(junk=JUNK)
def test_a_diagnosis_refuses(tmp_path: Path, junk: Any) -> None:
    found = diagnosis.diagnose(CAPTURE)
    with chdir(tmp_path):
        refused(lambda: found.write_parquet(junk))
        refused(lambda: diagnosis.annotate(found, junk))
        refused(lambda: diagnosis.annotate(replace(found, capture=junk), Path("copy.pcapng")))
        refused(lambda: diagnosis.limits(junk))
        if junk != "-":
            refused(lambda: diagnosis.diagnose(junk))
