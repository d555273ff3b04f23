"""Detectors written in Python."""

import signal
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import program
import rtolab
from rtolab import Blind, Detector, PrototypeError, Verdict, sweep
from rtolab._rtolab import Ack, Episode, Sent
from rtolab.judging import confusions
from rtolab.prototype.source import Source, load

SCENARIOS = ["frto2002-delays", "frto2002-outages", "stall", "lte-handover"]
VERDICTS = ("run", "at_s", "kind", "seq", "truth", "verdict", "why", "verdict_s")


class Eifel(Detector):
    """Ludwig and Katz 2000, as crates/tcp/src/spurious/eifel.rs has it."""

    name = "python-eifel"

    def __init__(self) -> None:
        self.retransmitted_at: int | None = None

    def on_retransmission(self, sent: Sent, episode: Episode) -> None:  # noqa: ARG002
        first = self.retransmitted_at is None
        if first and sent.cause in {"timeout", "fast_retransmit"}:
            self.retransmitted_at = sent.timestamp

    def on_ack(self, ack: Ack, episode: Episode) -> Verdict | Blind | None:  # noqa: ARG002
        if self.retransmitted_at is None or not ack.is_new:
            return None
        sent, self.retransmitted_at = self.retransmitted_at, None
        if ack.echo is None:
            return Blind("no timestamps")
        older = (ack.echo - sent) & 0xFFFFFFFF >= 0x80000000
        return Verdict.SPURIOUS if older else Verdict.GENUINE


class DualRtt(Detector):
    """Fu and Atiquzzaman 2004, as crates/tcp/src/spurious/dualrtt.rs has it."""

    def __init__(self, tenths: int = 1) -> None:
        self.name = f"python-dualrtt-{tenths}"
        self.tenths = tenths

    def on_ack(self, ack: Ack, episode: Episode) -> Verdict | Blind | None:
        if episode.kind != "timeout":
            return Blind("not a timeout")
        if episode.min_rtt is None:
            return Blind("no round-trip time")
        newest = ack.newest_acked
        if not ack.is_new or newest is None or not newest.was_retransmitted:
            return None
        soon = 10 * (ack.at - newest.last_sent) < self.tenths * episode.min_rtt
        return Verdict.SPURIOUS if soon else None


def verdicts(result: rtolab.Result, detector: str) -> pl.DataFrame:
    found = result.verdicts.filter(pl.col("detector") == detector).select(VERDICTS)
    assert found.height
    return found


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_detector_in_python_equals_the_same_one_in_rust(scenario: str) -> None:
    result = rtolab.run(
        scenario,
        sender=["newreno", "sack"],
        runs=8,
        set={"tcp.timestamps": True},
        judge=[Eifel, DualRtt(), "eifel", "dualrtt"],
    )
    assert verdicts(result, "python-eifel").equals(verdicts(result, "eifel"))
    assert verdicts(result, "python-dualrtt-1").equals(verdicts(result, "dualrtt"))


def test_a_sender_with_a_prototype_equals_the_sender_with_the_same_one_in_rust() -> None:
    options: dict[str, Any] = {
        "runs": 10,
        "set": {"tcp.timestamps": True},
        "prototypes": [DualRtt()],
    }
    options["judge"] = "eifel"  # Scored runs are forked, and their detectors with them.
    own = rtolab.run("frto2002-delays", sender="sack+python-dualrtt-1:rfc4015", **options)
    theirs = rtolab.run("frto2002-delays", sender="sack+dualrtt:rfc4015", **options)
    plain = rtolab.run("frto2002-delays", sender="sack", **options)
    assert unnamed(own).equals(unnamed(theirs))
    assert not unnamed(own).equals(unnamed(plain))


def unnamed(result: rtolab.Result) -> pl.DataFrame:
    return result.connections.drop("sender", "flow_sender")


def test_a_passive_detector_changes_no_run_and_threads_change_no_verdict() -> None:
    runs = [
        rtolab.run("frto2002-delays", sender="sack", runs=6, judge=[Eifel, "eifel"], jobs=jobs)
        for jobs in (1, 2)
    ]
    assert runs[0].verdicts.equals(runs[1].verdicts)
    alone = rtolab.run("frto2002-delays", sender="sack", runs=6, judge="eifel")
    assert runs[0].connections.equals(alone.connections)


def test_scores_include_a_detector_in_python() -> None:
    result = rtolab.run("frto2002-delays", sender="sack", runs=3, judge=["all", Eifel])
    names = [one.detector for one in confusions(result)]
    assert "python-eifel" in names
    assert "eifel" in names


class Raises(Detector):
    """Wrong."""

    def on_ack(self, ack: Ack, episode: Episode) -> Verdict:
        return self.divide(ack.advanced, episode.number)

    def divide(self, this: int, by: int) -> Verdict:
        return Verdict.SPURIOUS if this / (by - by) else Verdict.GENUINE


def test_an_exception_is_reported_with_its_traceback() -> None:
    with pytest.raises(
        PrototypeError, match=r"^raises\.on_ack: ZeroDivisionError: .*\.py:\d+"
    ) as e:
        rtolab.run("frto2002-delays", sender="sack", runs=4, judge=Raises)
    cause = e.value.__cause__
    assert isinstance(cause, ZeroDivisionError)
    frames = [frame.name for frame in traceback.extract_tb(cause.__traceback__)]
    assert frames == ["on_ack", "divide"]


class Quits(Detector):
    """Ends the process, or so it seems."""

    def on_ack(self, ack: Ack, episode: Episode) -> Verdict:  # noqa: ARG002
        sys.exit()


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exit_is_an_exception_like_any_other(jobs: int) -> None:
    with pytest.raises(PrototypeError, match=r"^quits\.on_ack: SystemExit.*\.py:\d+") as e:
        rtolab.run("stall", sender="sack", runs=2, judge=Quits, jobs=jobs)
    assert isinstance(e.value.__cause__, SystemExit)


class Silly(Detector):
    """Returns something that is no verdict."""

    def on_ack(self, ack: Ack, episode: Episode) -> Any:  # noqa: ARG002
        return True


def test_a_wrong_verdict_is_an_error() -> None:
    with pytest.raises(PrototypeError, match="found the verdict True; expected a Verdict"):
        rtolab.run("frto2002-delays", sender="sack", judge=Silly)


def test_a_name_is_a_string() -> None:
    class Numbered(Detector):
        name = 5  # type: ignore[assignment]

        def on_ack(self, ack: Ack, episode: Episode) -> Verdict:  # noqa: ARG002
            return Verdict.OPEN

    with pytest.raises(PrototypeError, match=r"^Numbered\.name: found 5; expected a string$"):
        rtolab.run("stall", prototypes=[Numbered])


def test_a_class_that_is_no_detector_is_refused() -> None:
    with pytest.raises(PrototypeError, match=r"int: expected a subclass of rtolab\.Detector"):
        rtolab.run("frto2002-delays", judge=[int])  # type: ignore[list-item]
    with pytest.raises(PrototypeError, match="which rtolab uses"):
        rtolab.run("frto2002-delays", judge=[type("X", (Eifel,), {"name": "eifel"})])
    with pytest.raises(PrototypeError, match="found two prototypes"):
        rtolab.run("frto2002-delays", judge=[DualRtt(1), DualRtt(1)])
    with pytest.raises(PrototypeError, match="expected small letters"):
        rtolab.run("frto2002-delays", judge=[type("X", (Eifel,), {"name": "My Own"})])
    with pytest.raises(rtolab.SenderError, match="must begin with its loss recovery"):
        rtolab.run("frto2002-delays", sender="python-eifel+sack", prototypes=[Eifel])
    with pytest.raises(rtolab.SenderError, match="names both"):
        rtolab.run("frto2002-delays", sender="sack+python-eifel+python-eifel", prototypes=[Eifel])


EARLY = """
from rtolab import Detector, Verdict


class Early(Detector):
    def on_ack(self, ack, episode):
        if ack.is_new and episode.min_rtt:
            soon = ack.at - episode.began < episode.min_rtt // QUARTER
            return Verdict.SPURIOUS if soon else Verdict.GENUINE


QUARTER = 4
"""
SWEEP = """
scenario = "frto2002-delays"
prototypes = ["early.py:Early"]
senders = ["sack", "sack+early"]
judge = ["early", "eifel"]
tables = ["connections", "verdicts"]
runs = 4
block = 2
"""


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "early.py"
    path.write_text(EARLY)
    first = load(f"{path}:Early")
    assert (first.name, load(f"{path}:Early")) == ("early", first)
    path.write_text(EARLY.replace("QUARTER = 4", "QUARTER = 2"))
    assert load(f"{path}:Early") is not first


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("early.py", "expected a file and a class"),
        ("nowhere.py:Early", "No such file"),
        ("early.py:Late", "found no class Late"),
        ("early.py:QUARTER", "found no class QUARTER"),
        ("wrong.py:Early", "NameError"),
        ("no.such.module:Early", "found no module"),
    ],
)
def test_a_wrong_place_is_an_error_that_says_why(tmp_path: Path, place: str, message: str) -> None:
    (tmp_path / "early.py").write_text(EARLY)
    (tmp_path / "wrong.py").write_text("nothing_there")
    with pytest.raises(PrototypeError, match=message):
        Source.read(place, tmp_path).load()


def test_a_sweep_recomputes_if_the_text_changes(tmp_path: Path) -> None:
    (tmp_path / "early.py").write_text(EARLY)
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP)
    out = tmp_path / "out"
    assert sweep.run(sweep.load(file), out, sweep.Threads(2)).computed == 4
    table = sweep.read(out, "verdicts").filter(pl.col("detector") == "early").collect()
    assert set(table["sender"]) == {"sack", "sack+early"}
    assert sweep.run(sweep.load(file), out, sweep.Threads(2)).computed == 0
    (tmp_path / "early.py").write_text(EARLY.replace("QUARTER = 4", "QUARTER = 2"))
    assert sweep.run(sweep.load(file), out, sweep.Threads(2)).computed == 4
    file.write_text(SWEEP.replace("early.py", "late.py"))
    with pytest.raises(rtolab.Error, match=r"sweep\.toml:3: prototypes: .*late\.py"):
        sweep.load(file)


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return program.run_here("run", "frto2002-delays", *arguments, cwd=folder)


def test_the_command_line_names_a_prototype_by_file_and_class(tmp_path: Path) -> None:
    (tmp_path / "early.py").write_text(EARLY)
    known = ("--prototype", "early.py:Early")
    done = command(tmp_path, *known, "--sender", "sack+early", "--judge", "early", "--runs", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert "sack+early" in done.stdout


def test_the_command_line_refuses_a_key_that_the_profile_overrides(tmp_path: Path) -> None:
    (tmp_path / "early.py").write_text(EARLY)
    known = ("--prototype", "early.py:Early")
    done = command(tmp_path, *known, "--sender", "linux-2.4", "--set", "tcp.rto.min=300 ms")
    assert (done.returncode, done.stdout) == (2, "")
    assert "but the profile linux-2.4 of the sender" in done.stderr


def test_the_command_line_shows_where_it_raised(tmp_path: Path) -> None:
    (tmp_path / "early.py").write_text(EARLY.replace("QUARTER = 4", "QUARTER = 0"))
    done = command(tmp_path, "--prototype", "early.py:Early", "--judge", "early")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" in done.stderr
    assert "early.py" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("rtolab: early.on_ack: ZeroDivisionError")


LOOPS = """
import rtolab


class Loops(rtolab.Detector):
    def on_ack(self, ack, episode):
        print("begins", flush=True)
        while True:
            pass
"""
LOOPING_SWEEP = """
scenario = "stall"
senders = ["sack"]
runs = 4
judge = ["loops"]
prototypes = ["loops.py:Loops"]
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("what", ["run", "sweep"])
def test_an_interrupt_ends_a_detector_that_loops(what: str, jobs: str, tmp_path: Path) -> None:
    (tmp_path / "loops.py").write_text(LOOPS)
    (tmp_path / "loops.toml").write_text(LOOPING_SWEEP)
    given = ["loops.toml", "--out", "out"]
    if what == "run":
        given = ["stall", "-s", "sack", "--prototype", "loops.py:Loops", "--judge", "loops"]
    with program.start(what, *given, "--jobs", jobs, cwd=tmp_path) as process:
        assert process.stdout is not None
        try:
            # Two threads may print at the same time.
            assert process.stdout.readline().startswith("begins")
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 128 + signal.SIGINT
        finally:
            process.kill()


INTERRUPTED_AT_ONCE = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rtolab.cli import main
from rtolab.sweep import engine


class Executor(ThreadPoolExecutor):
    def submit(self, *given):
        super().submit(*given)
        while not Path("begun").exists():
            time.sleep(0.01)
        raise KeyboardInterrupt


engine.ThreadPoolExecutor = Executor
sys.argv[1:] = ["sweep", "loops.toml", "--out", "out", "--jobs", "1"]
main()
"""


def test_an_interrupt_ends_a_sweep_whose_first_chunk_has_just_begun(tmp_path: Path) -> None:
    loops = LOOPS.replace('print("begins", flush=True)', 'open("begun", "w").close()')
    (tmp_path / "loops.py").write_text(loops)
    (tmp_path / "loops.toml").write_text(LOOPING_SWEEP)
    done = program.execute(sys.executable, "-c", INTERRUPTED_AT_ONCE, cwd=tmp_path, timeout=60)
    assert done.returncode == 128 + signal.SIGINT, done.stderr
