"""Commands and functions with arbitrary arguments.

Each reports what is wrong: a command in a message, a function in an exception. None ends in a
defect (InternalError, PanicException, SystemError), and no command prints a traceback.
"""

from __future__ import annotations

import io
import json
import os
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer.main
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import rtolab
from explorer_client import CAPTURE
from rtolab import _rtolab, cli, diagnosis, emulation, sweep
from rtolab._rtolab import InternalError
from rtolab.run import included_scenarios

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Commands.

COMMANDS = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
BEGIN = {
    "demo": ["--help"],
    "explain": ["--help"],
    "list": ["--help"],
    "mcp": ["--help"],
    "schema": ["--help"],
    "run": ["nowhere"],
    "reproduce": ["nowhere"],
    "emulate": ["nowhere"],
    "compare": ["nowhere"],
    "kernel": ["remove", "nowhere"],
    "gateway": ["--netns", "rtolab-nowhere"],
    "diagnose": ["nowhere"],
    "conform": ["--only", "nowhere"],
    "sweep": ["nowhere"],
    "rare": ["nowhere", "--at-least", "2"],
    "serve": ["--browse", "nowhere"],
    "watch": ["nowhere"],
    "tune": ["nowhere"],
    "plot": ["nowhere"],
    "import": ["mahimahi", "nowhere"],
    "record": ["--duration", "0"],
    "wireshark": [],
}
"""Arguments that make a command fail early, because its work would take long."""
NUMBERS = ["nan", "inf", "-inf", "-1", "1e308", "٣", str(2**63), str(2**64), str(10**40), ""]
TEXTS = ["", "=", "a=", "\udcff", "a=\udcff", "x" * 5000, "[" * 500, "/", "."]
"""Python passes on invalid UTF-8 as surrogates; no argument can contain NUL."""


def run_command(command: str, *arguments: str) -> tuple[object, str]:
    """The exit status of a command, and what it wrote to standard error."""
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


def test_all_commands_are_covered() -> None:
    assert set(BEGIN) == set(COMMANDS)


def options() -> Iterator[tuple[str, str, type]]:
    """Command, name and type of every option that takes a value."""
    for command, about in COMMANDS.items():
        for one in about.params:
            if one.param_type_name == "option" and not one.is_flag:
                yield command, one.opts[0], one.type_descriptor.annotation


@pytest.mark.slow
@pytest.mark.parametrize(("command", "option", "kind"), list(options()))
def test_an_invalid_option_is_reported(
    tmp_path: Path, command: str, option: str, kind: type
) -> None:
    with chdir(tmp_path):
        for value in NUMBERS if kind in (int, float) else TEXTS:
            code, message = run_command(command, *BEGIN[command], option, value)
            assert code == 2 or BEGIN[command] == ["--help"], (value, message)
            assert "Traceback" not in message
            assert "defect" not in message


@pytest.mark.parametrize("command", ["run", "diagnose", "sweep", "reproduce", "compare", "list"])
def test_an_invalid_argument_is_reported(tmp_path: Path, command: str) -> None:
    deep = tmp_path / "deep.toml"
    deep.write_text("scenario = " + "[" * 100_000)
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'title = "\xff"')
    with chdir(tmp_path):
        for value in (*TEXTS, str(deep), str(latin), os.fsdecode(b"\xff.toml"), "/dev/null"):
            code, message = run_command(command, value)
            assert code == 2, (value, message)
            assert "Traceback" not in message
            assert "defect" not in message


def test_infinite_durations_are_refused() -> None:
    for option in ("--idle", "--give-up", "--duration"):
        for number in ("nan", "inf"):
            code, message = run_command("gateway", "--netns", "rtolab-nowhere", option, number)
            assert code == 2
            assert option in message


# Functions.

SMALL = included_scenarios()["tail"]
"""A scenario that takes no time to simulate."""
REFUSED = (rtolab.Error, TypeError, AttributeError, ValueError, OverflowError, KeyError, OSError)
"""What a function may raise. All but the first mean that an argument has the wrong type."""
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


def refusal(work: Callable[[], object], errors: tuple[type[Exception], ...] = REFUSED) -> str:
    """The message of the error that `work` raises; empty if it raises none.

    Any exception that is not one of `errors` is a defect.
    """
    try:
        work()
    except InternalError:
        raise
    except errors as error:
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
"""Arguments of `run`, except `runs` and `jobs`: large ones are valid and would take long."""


class TooLongError(Exception):
    """A run with valid arguments would take long."""


def stop_soon(_done: int, _total: int) -> None:
    """Report progress ten times, then end the run."""
    stop_soon.calls += 1  # type: ignore[attr-defined]
    if stop_soon.calls > 10:  # type: ignore[attr-defined]
        raise TooLongError


@OFTEN
@given(given=st.fixed_dictionaries({}, optional=KEYWORDS))
def test_run_accepts_or_refuses_any_argument(given: dict[str, Any]) -> None:
    stop_soon.calls = 0  # type: ignore[attr-defined]
    with suppress(TooLongError):
        refusal(lambda: rtolab.run(SMALL, **{"progress": stop_soon} | given))


@OFTEN
@given(number=JUNK.filter(lambda junk: not isinstance(junk, int) or not 0 <= junk < 2**64))
@example(number=0)
def test_run_refuses_invalid_numbers(number: Any) -> None:
    assert refusal(lambda: rtolab.run(SMALL, runs=number)), "runs"
    if number is not None:
        assert refusal(lambda: rtolab.run(SMALL, jobs=number)), "jobs"
    if number != 0:
        assert refusal(lambda: rtolab.run(SMALL, seed=number)), "seed"


def test_a_refusal_names_the_argument() -> None:
    with pytest.raises(rtolab.Error, match="parallel is 0: expected 1 to"):
        emulation.emulate(SMALL, parallel=0)


@OFTEN
@given(junk=JUNK, more=JUNK)
def test_the_extension_accepts_or_refuses_anything(tmp_path: Path, junk: Any, more: Any) -> None:
    out = tmp_path / "out"
    calls: list[Callable[[], object]] = [
        lambda: _rtolab.check(junk),
        lambda: _rtolab.check(SMALL, junk, more),
        lambda: _rtolab.check(SMALL, [(junk, more)]),
        lambda: _rtolab.check(SMALL, [], [junk], [more]),
        lambda: _rtolab.simulate(SMALL, seeds=junk, set=more),
        lambda: _rtolab.simulate(SMALL, seeds=[junk], judges=more),
        lambda: _rtolab.simulate(SMALL, seeds=[1], judges=[junk], what_if=[more]),
        lambda: _rtolab.Explorer(junk),
        lambda: _rtolab.Explorer({}).answer(junk, more),
        lambda: _rtolab.Explorer({}).answer("run", request(toml=junk, flow=more)),
        lambda: _rtolab.Explorer({}).answer("run", request(seed=junk, senders=[more])),
        lambda: _rtolab.Explorer({}).answer("branch", request(at_s=junk, seq=more)),
        lambda: _rtolab.Explorer({}).answer("what-if", request(at_s=1.0, seq=1, others=[junk])),
        lambda: _rtolab.Explorer({}).diagnose(CAPTURE, junk, more),
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
        refusal(call)


def request(**fields: Any) -> str:
    """A request of the page with these fields."""
    usual = {"scenario": "", "toml": SMALL.read_text("utf-8"), "senders": ["reno"]}
    return json.dumps(usual | fields, default=str)


@OFTEN
@given(junk=JUNK)
def test_results_accept_or_refuse_anything(
    tmp_path: Path, result: rtolab.Result, junk: Any
) -> None:
    refusal(lambda: result.pcapng(junk))
    refusal(lambda: result.pcapng(0, junk))
    refusal(lambda: result.packetdrill(junk))
    refusal(lambda: result.sender(junk))
    refusal(lambda: result.plot.time_sequence(junk))
    refusal(lambda: result.plot.time_sequence(0, junk))
    with chdir(tmp_path):
        refusal(lambda: result.write_tables(junk))


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
        refusal(lambda: sweep.load(file), IN_WORDS)


@pytest.mark.parametrize("written", ["x = {0}1", "{0}a = 1", "[{0}a]", "x = {{{0}a = 1}}"])
@pytest.mark.parametrize("part", ["[", "{a=", "a.", "'' . ", '"a\\"b".'])
def test_a_deeply_nested_sweep_is_refused_at_once(tmp_path: Path, written: str, part: str) -> None:
    """The TOML parser would need time in the square of the depth, which is days."""
    file = tmp_path / "sweep.toml"
    for times in (10, 85, 10_000, 600_000):
        file.write_text(written.format(part * times))
        message = refusal(lambda: sweep.load(file), IN_WORDS)
        assert str(file) in message


def test_a_sweep_of_long_numbers_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    for number in ("9" * 5000, "0x" + "f" * 5000, "9" * 5000 + ".0", "1e" + "9" * 5000):
        file.write_text(f'scenario = "tail"\nruns = {number}\n')
        message = refusal(lambda: sweep.load(file), IN_WORDS)
        assert str(file) in message
        assert len(message) < 2000


@OFTEN
@given(junk=JUNK)
def test_a_diagnosis_accepts_or_refuses_anything(tmp_path: Path, junk: Any) -> None:
    found = diagnosis.diagnose(CAPTURE)
    with chdir(tmp_path):
        refusal(lambda: found.write_parquet(junk))
        refusal(lambda: diagnosis.annotate(found, junk))
        refusal(lambda: diagnosis.annotate(replace(found, capture=junk), Path("copy.pcapng")))
        refusal(lambda: diagnosis.limits(junk))
        if junk != "-":
            refusal(lambda: diagnosis.diagnose(junk))
