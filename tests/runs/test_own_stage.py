"""Stages of links written in Python."""

import threading
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest

import program
import rtolab
from rtolab import FrameAction, Hold, PrototypeError, ScenarioError, Stage, sweep
from rtolab._rtolab import Frame

LINK = "link.wireless.forward"


class Every(Stage):
    """Loses every n-th frame."""

    def __init__(self, nth: int = 10) -> None:
        self.name = f"every-{nth}"
        self.nth = nth

    def on_frame(self, frame: Frame) -> FrameAction | None:
        return FrameAction.DROP if frame.number % self.nth == 0 else None


class Late(Stage):
    """Holds every frame for a while."""

    def on_frame(self, frame: Frame) -> Hold:
        assert frame.direction == "forward"
        assert frame.bytes > 0
        return Hold(30_000_000)


class Lossy(Stage):
    """Loses frames at random, and counts them itself."""

    def __init__(self) -> None:
        self.seen = 0

    def on_frame(self, frame: Frame) -> FrameAction | None:
        self.seen += 1
        assert self.seen == frame.number
        return FrameAction.DROP if self.random.chance(0.05) else FrameAction.PASS


def run(stage: type[Stage] | Stage, **others: Any) -> rtolab.Result:
    options: dict[str, Any] = {"sender": ["newreno", "sack+frto"], "runs": 6, "judge": "eifel"}
    options |= {"set": {f"{LINK}.stage": stage.name}, "prototypes": [stage], **others}
    scenario = options.pop("scenario", "frto2002-delays")
    return rtolab.run(scenario, **options)


def alike(one: rtolab.Result, other: rtolab.Result) -> bool:
    tables = [
        (it.connections, it.timeouts, it.verdicts, it.links, it.disturbances) for it in (one, other)
    ]
    return all(a.equals(b) for a, b in zip(*tables, strict=True))


def test_a_stage_that_drops_every_nth_frame_equals_a_list_of_drops() -> None:
    own = run(Every(25))
    theirs = run(Every(25), set={f"{LINK}.drops": list(range(25, 10_000, 25))})
    assert alike(own, theirs)
    assert own.connections["lost_error"].sum() > 0


STATE = threading.local()
"""Python keeps it in the state of the thread."""


class Counts(Stage):
    """Counts its calls by the state of the thread in which they are."""

    states: ClassVar[list[int]] = []

    def on_frame(self, _: Frame) -> None:
        STATE.calls = getattr(STATE, "calls", 0) + 1
        self.states.append(STATE.calls)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_thread_keeps_its_python_state_during_a_run(jobs: int) -> None:
    """Making one for each call takes ten times as long as the call."""
    Counts.states.clear()
    STATE.__dict__.clear()
    run(Counts, sender="newreno", runs=2, jobs=jobs)
    assert len(Counts.states) > 100
    assert Counts.states.count(1) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("order", ["kept", "free"])
def test_a_stage_that_holds_every_frame_equals_a_delay_spike(order: str) -> None:
    link = "link.radio.forward"
    spikes = {f"{link}.spikes.probability": 1.0, f"{link}.spikes.length.constant": "30 ms"}
    own, theirs, plain = (
        run(Late, scenario="stall", set={f"{link}.order": order, **options})
        for options in ({f"{link}.stage": "late"}, spikes, {f"{link}.stage": "none"})
    )
    assert alike(own, theirs)
    assert not alike(own, plain)


@pytest.mark.slow
def test_random_numbers_of_a_stage_depend_on_the_seed_and_not_on_threads() -> None:
    options: dict[str, Any] = {"what_if": "newreno+dualrtt", "runs": 8}
    one, two = (run(Lossy, jobs=jobs, **options) for jobs in (1, 2))
    assert alike(one, two)
    assert one.what_if.equals(two.what_if)
    assert not alike(one, run(Lossy, seed=100, **options))
    lost, sent = (int(one.connections[name].sum()) for name in ("lost_error", "segments"))
    assert 0.02 < lost / sent < 0.09


def test_each_direction_has_its_own_instance() -> None:
    class Both(Stage):
        """Tells the directions apart by itself."""

        def on_frame(self, frame: Frame) -> FrameAction | Hold:
            if frame.direction == "backward":
                return FrameAction.PASS
            return Hold(self.random.uniform(0, 1_000_000) + self.random.exponential(1000))

    both = run(Both, set={"link.wireless.stage": "both"})
    one = run(Both, set={f"{LINK}.stage": "both"})
    assert alike(both, one)


def stage_that_evaluates(text: str) -> type[Stage]:
    known: dict[str, Any] = {"Hold": Hold, "FrameAction": FrameAction}

    class Odd(Stage):
        """Returns the value of the test's expression."""

        def on_frame(self, frame: Frame) -> Any:
            return eval(text, known | {"self": self, "frame": frame})

    return Odd


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("True", "found the treatment True; expected a FrameAction, Hold"),
        ("Hold(-1)", r"found the treatment Hold\(length=-1\)"),
        ("Hold(2**60)", "nanoseconds at most"),
        ("self.random.chance(2)", "found 2; expected a chance from 0 to 1"),
        ("self.random.uniform(2, 1)", "found 2 to 1"),
        ("self.random.uniform(2, 2.5)", "found 2.5; expected an integer of nanoseconds from 0"),
        ("self.random.exponential(-4)", "found -4; expected an integer of nanoseconds from 0 to"),
        ("frame.number / 0", r"ZeroDivisionError: .*:\d+\)"),
    ],
)
def test_a_wrong_frame_action_is_an_error(text: str, message: str) -> None:
    with pytest.raises(PrototypeError, match=rf"^odd\.on_frame: .*{message}"):
        run(stage_that_evaluates(text))


class Locked(Stage):
    """Its state cannot be copied."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def on_frame(self, frame: Frame) -> None:
        """Let all frames pass."""


def test_state_that_cannot_be_copied_is_named() -> None:
    message = (
        r"^locked\.__deepcopy__: TypeError: .*; expected attributes that copy\.deepcopy copies"
    )
    with pytest.raises(PrototypeError, match=message):
        run(Locked)


class Unmade(Stage):
    """Needs an argument that rtolab does not know."""

    def __init__(self, nth: int) -> None:
        self.nth = nth

    def on_frame(self, frame: Frame) -> None:
        """Let all frames pass."""


def test_a_class_that_cannot_be_made_is_named() -> None:
    with pytest.raises(PrototypeError, match=r"^unmade\.__init__: TypeError: .*'nth'"):
        run(Unmade)


def test_an_unknown_stage_is_an_error() -> None:
    options: dict[str, Any] = {"set": {f"{LINK}.stage": "lost"}}
    with pytest.raises(
        ScenarioError, match=r'^--set link\.wireless\.forward\.stage: found "lost"; '
    ):
        rtolab.run("frto2002-delays", **options)
    with pytest.raises(ScenarioError, match=r'a prototype of a stage, or "none" or "lossy"$'):
        run(Lossy, **options)
    with pytest.raises(PrototypeError, match="found two prototypes"):
        run(Lossy, prototypes=[Lossy, type("Lossy", (Lossy,), {})])


LOSSY = """
from rtolab import Hold, Stage, FrameAction


class Lossy(Stage):
    def on_frame(self, frame):
        return FrameAction.DROP if self.random.chance(CHANCE) else None


CHANCE = 0.03
"""
SWEEP = """
scenario = "frto2002-delays"
prototypes = ["lossy.py:Lossy"]
senders = ["sack", "sack+frto"]
tables = ["connections"]
runs = 2

[grid]
"link.wireless.forward.stage" = ["none", "lossy"]
"""


def test_a_sweep_compares_stages(tmp_path: Path) -> None:
    (tmp_path / "lossy.py").write_text(LOSSY)
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP)
    out = tmp_path / "out"
    assert sweep.run(sweep.load(file), out, sweep.Threads(2)).computed == 4
    lost = sweep.read(out, "connections").filter(pl.col("lost_error") > 0).collect()
    assert set(lost["link.wireless.forward.stage"]) == {"lossy"}
    (tmp_path / "lossy.py").write_text(LOSSY.replace("0.03", "0.05"))
    assert sweep.run(sweep.load(file), out, sweep.Threads(2)).computed == 4
    file.write_text(SWEEP.replace('"none"', '"lust"'))
    with pytest.raises(rtolab.Error, match=r"sweep\.toml:9: .*stage: found \"lust\""):
        sweep.load(file)


def test_an_adaptive_sweep_accepts_a_stage(tmp_path: Path) -> None:
    (tmp_path / "lossy.py").write_text(LOSSY)
    until = 'until = { measure = "elapsed_s", relative = 0.5, max_runs = 4 }'
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP.replace("runs = 2", until).replace('"none", ', ""))
    assert sweep.load(file).points[0].set[0][1].strip('"') == "lossy"


def test_the_command_line_names_a_prototype_by_file_and_class(tmp_path: Path) -> None:
    (tmp_path / "lossy.py").write_text(LOSSY)
    words = ["run", "frto2002-delays", "--prototype", "lossy.py:Lossy"]
    words += ["--set", f"{LINK}.stage=lossy", "--runs", "2", "--json"]
    done = program.run_here(*words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert '"completed": true' in done.stdout
