"""Runs of scenarios with stand-ins for the emulation: what is asked of it, and what is kept."""

import io
import json
import sys
import tarfile
import threading
import tomllib
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from conform_results import measured
from rtolab import EmulationError, Error, _rtolab
from rtolab.conform import Scenario, Stack, Suite, conform, quic, run
from rtolab.conform.measure import TransferOutcome
from rtolab.conform.run import GUEST_LOGS, SEVERAL, StoppedError, UndisturbedTransferError
from rtolab.conform.scenario import Spans
from rtolab.kernel import Kernel

SMALL = Scenario("small", Suite.STALLS, "is held", bytes=20_000)
TAIL = replace(SMALL, id="tail", says="loses its tail", tail=2, seed=9)
LATE = replace(SMALL, id="late", extra_s=30.0, kind=Spans.STALLS, spans=((0.1, 0.2),))
GUEST = Kernel("nine", "9.9", 1000, "a test", Path("/guest"))
Call = dict[str, Any]


def transfer(took_s: float = 0.5, *, completed: bool = True, bytes_: int = 1500) -> Any:
    """A run of 15 data packets that all arrive, without disturbances."""
    count = 15
    at_s = [0.01 * number for number in range(count)]
    segments = {
        "event": ["sent"] * count,
        "place": ["sender"] * count,
        "copy": [*range(count)],
        "at_s": at_s,
        "len": [1448] * count,
        "bytes": [bytes_] * count,
        "fate": ["delivered"] * count,
        "fate_at_s": at_s,
        "unneeded": [False] * count,
    }
    flow = {"start_s": 1.0, "end_s": 1.0 + took_s, "completed": completed, "flow_sender": "linux"}
    flow |= {"fast_retransmits": 4, "spurious_fast_retransmits": 3}
    flow |= {"timeouts": 2, "spurious_timeouts": None}
    return SimpleNamespace(
        reports=[{"elapsed_s": took_s}],
        connections=pl.DataFrame([flow]),
        segments=pl.DataFrame(segments),
        disturbances=pl.DataFrame(schema={"kind": str, "from_s": float, "to_s": float}),
        doubts=[["a clock was late"]],
        pcapng=lambda run, place: f"{run} {place}".encode(),
    )


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """Stands in for the emulation of a kernel's TCP; the calls."""
    calls: list[Call] = []

    def emulate(path: Path, **given: Any) -> Any:
        given["progress"](0, 1)
        calls.append({"file": path.name, "scenario": tomllib.loads(path.read_text()), **given})
        return transfer()

    monkeypatch.setattr(run, "emulate", emulate)
    return calls


def test_the_undisturbed_transfer_runs_first_and_five_times(emulated: list[Call]) -> None:
    done: list[tuple[int, int]] = []
    stack = Stack("ours", {"kernel.frto": 0})
    scores = conform(
        stack,
        [TAIL, LATE],
        repeat=2,
        parallel=1,
        limit_s=40.0,
        progress=lambda *counts: done.append(counts),
    )
    reference = SMALL.reference.id
    assert [call["file"] for call in emulated] == [
        *(f"{reference}-{number}.toml" for number in range(5)),
        *("tail-0.toml", "late-0.toml", "tail-1.toml", "late-1.toml"),
    ]
    assert [call["seed"] for call in emulated[-2:]] == [9, LATE.seed]
    assert all(call["set"] == {"kernel.frto": 0} for call in emulated)
    assert all(call["kernel"] is None for call in emulated)
    assert done[-1] == (9, 9)
    assert [counts[0] for counts in done] == sorted({counts[0] for counts in done})
    files = {call["file"]: call["scenario"] for call in emulated}
    # The reference run has 15 packets, of which a scenario loses the last two.
    assert files["tail-0.toml"]["link"][0]["backward"]["drops"] == [14, 15]
    assert "backward" not in files[f"{reference}-0.toml"]["link"][0]
    assert files["tail-0.toml"]["duration"] == "40.000 s"
    assert files["late-0.toml"]["duration"] == "70.000 s"
    tail, late = scores
    assert (tail.id, tail.ended, late.id, late.evidence) == ("tail", "recovered", "late", "")
    assert (tail.took_s, tail.undisturbed_s, len(tail.runs)) == (0.5, 0.5, 2)
    counts = (tail.episodes, tail.spurious_episodes, tail.timeouts, tail.spurious_timeouts)
    assert counts == (4, 3, 2, 0)
    assert "a clock was late" in tail.doubts


def test_on_a_virtual_clock_the_undisturbed_transfer_runs_once(emulated: list[Call]) -> None:
    conform(Stack(kernel=GUEST), [SMALL], parallel=10)
    assert len(emulated) == 2
    assert all(call["kernel"] is GUEST for call in emulated)


def test_captures_and_the_scenario_of_a_run_are_kept(emulated: list[Call], tmp_path: Path) -> None:
    [score] = conform(Stack("ours"), [TAIL], evidence=tmp_path / "kept")
    assert score.evidence == str(tmp_path / "kept" / "tail")
    files = {path.name: path.read_text() for path in (tmp_path / "kept" / "tail").iterdir()}
    assert (files["sender.pcapng"], files["receiver.pcapng"]) == ("0 sender", "0 receiver")
    assert tomllib.loads(files["scenario.toml"]) == emulated[-1]["scenario"]
    assert len(files) == 3


@pytest.mark.usefixtures("emulated")
def test_delays_that_change_are_kept_with_the_scenario(tmp_path: Path) -> None:
    moving = replace(SMALL, id="moving", round_trips=((1.0, 0.05),))
    conform(Stack("ours"), [moving], evidence=tmp_path)
    kept = tmp_path / "moving"
    assert (kept / "scenario.delays").read_text() == "0.000 100\n1.000 50\n"
    scenario = tomllib.loads((kept / "scenario.toml").read_text())
    trace = {"file": "scenario.delays", "of": "round-trip"}
    assert scenario["link"][0]["delay_trace"] == trace


def test_a_transfer_is_hung_after_its_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    took_s = {"late-0.toml": 41.0, "small-0.toml": 10.5}
    monkeypatch.setattr(
        run, "emulate", lambda path, **_: transfer(took_s.get(path.name, 0.5), completed=True)
    )
    small, late = conform(Stack("ours"), [SMALL, LATE], limit_s=10.0)
    assert (small.ended, late.ended) == ("hung", "hung")
    assert (small.took_s, late.took_s) == (10.0, 40.0)
    took_s["late-0.toml"] = 40.0
    assert conform(Stack("ours"), [LATE], limit_s=10.0)[0].ended == "recovered"
    monkeypatch.setattr(run, "emulate", lambda *_, **__: transfer(11.0))
    with pytest.raises(UndisturbedTransferError) as raised:
        conform(Stack("ours"), [SMALL], limit_s=10.0, evidence=tmp_path / "kept")
    reference = SMALL.reference.id
    assert str(raised.value) == (
        "ours: the transfer of 20 kB that nothing disturbs did not end within 10 s (--limit): "
        "raise --limit if it needs longer, or select other transfers with --only; its captures are "
        f"in {tmp_path / 'kept' / reference}"
    )
    assert (tmp_path / "kept" / reference / "sender.pcapng").exists()


def test_an_error_of_one_run_stops_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    started, stopped = threading.Event(), list[str]()

    def emulate(path: Path, progress: Callable[..., object], **_: Any) -> Any:
        if path.name.endswith("-0.toml"):
            started.wait(5)
            raise EmulationError("no /dev/net/tun")
        started.set()
        for _number in range(1000):
            try:
                progress(0, 1)
            except StoppedError as error:
                stopped.append(str(error))
                raise
            threading.Event().wait(0.005)
        return transfer()

    monkeypatch.setattr(run, "emulate", emulate)
    with pytest.raises(EmulationError, match="no /dev/net/tun"):
        conform(Stack("ours"), [SMALL], parallel=2)
    assert set(stopped) == {"another run could not be done"}


SERVER = "serve {files} {bytes} {logs} {server}"
CLIENT = ("get", "http://{server}/{bytes}", "--qlog={logs}")


def archive(folder: Path, host: str) -> None:
    """What the guest of a host left in its folder for logs."""
    with tarfile.open(folder / f"{host}.tar", "w") as file:
        entry = tarfile.TarInfo("x.sqlog")
        entry.size = 4
        file.addfile(entry, io.BytesIO(b"qlog"))


@pytest.fixture
def guests(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """Stands in for programs in guests; the calls."""
    calls: list[Call] = []

    def emulate_programs(path: Path, **given: Any) -> tuple[None, dict[str, Any]]:
        given["goes_on"](0, 1)
        sizes = {
            one.name: one.stat().st_size for one in path.parent.iterdir() if one.name.isdigit()
        }
        calls.append({"scenario": tomllib.loads(path.read_text()), "sizes": sizes, **given})
        # The output of a program may be anything.
        given["log"].write_bytes(b"first\n  served \xff404  \n\n")
        if given["kept"]:
            for host in ("client", "server"):
                archive(given["kept"][1], host)
        return None, {"returncode": 0, "elapsed_s": 0.5}

    def result(_path: str, _: None, reports: list[dict[str, Any]]) -> Any:
        made = transfer(bytes_=3000)
        made.reports = reports
        return made

    monkeypatch.setattr(_rtolab, "emulate_programs", emulate_programs)
    monkeypatch.setattr(run, "EmulationResult", result)
    return calls


def test_a_client_and_a_server_run_in_guests(
    guests: list[Call], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    logs: list[dict[str, list[str]]] = []

    def counts(folders: dict[str, Path]) -> quic.LossCounts:
        logs.append({host: [one.name for one in of.iterdir()] for host, of in folders.items()})
        return quic.LossCounts(6, 5, 4, 3, 2, 1)

    monkeypatch.setattr(quic, "counts", counts)
    stack = Stack("quic", {"kernel.tun": True}, SERVER, CLIENT, lead_s=3.0, kernel=GUEST)
    [score] = conform(stack, [replace(LATE, flows=1)], limit_s=40.0, evidence=tmp_path / "kept")
    reference, call = guests
    assert (reference["limit_s"], call["limit_s"]) == (40.0, 70.0)
    assert (call["guest"], call["lead_s"], call["keep"]) == (
        (Path("/guest"), "Linux 9.9, HZ 1000"),
        3.0,
        True,
    )
    assert call["set"] == [("kernel.tun", "true")]
    assert call["seed"] == LATE.seed
    # A server has a file of each size.
    assert call["sizes"] == {"20000": 20_000}
    log = "/tmp/rtolab-logs"
    files = call["log"].parent
    assert call["server"] == f"mkdir -p {log}; serve {files} 20000 {log} {{server}}"
    assert call["client"] == [
        *("sh", "-c", f'mkdir -p {log}; exec "$@"', "sh"),
        *("get", "http://{server}/20000", f"--qlog={log}"),
    ]
    assert call["kept"] == (GUEST_LOGS, call["log"].with_suffix(".logs"))
    assert logs == [{"client": ["x.sqlog"], "server": ["x.sqlog"]}] * 2
    assert (score.declared_losses, score.spurious_losses, score.episodes) == (6, 5, 4)
    assert (score.spurious_episodes, score.timeouts, score.spurious_timeouts) == (3, 2, 1)
    assert (score.ended, score.said) == ("recovered", "")
    kept = tmp_path / "kept" / "late"
    assert sorted(str(one.relative_to(kept)) for one in kept.rglob("*.*")) == [
        *("client/x.sqlog", "output.txt", "receiver.pcapng", "scenario.toml"),
        *("sender.pcapng", "server/x.sqlog"),
    ]
    assert (kept / "output.txt").read_bytes() == b"first\n  served \xff404  \n\n"


def test_programs_without_logs_keep_none(guests: list[Call], tmp_path: Path) -> None:
    stack = Stack("plain", server="serve", client=("get", "{server}"), kernel=GUEST)
    two = replace(SMALL, flows=2)
    [score] = conform(stack, [two], evidence=tmp_path / "kept")
    assert [call["kept"] for call in guests] == [None, None]
    assert guests[0]["server"] == "serve"
    assert guests[0]["client"] == ["sh", "-c", SEVERAL, "sh", "2", "get", "{server}"]
    assert score.ended == "recovered"
    assert {one.name for one in (tmp_path / "kept" / "small").iterdir()} == {
        *("output.txt", "receiver.pcapng", "scenario.toml", "sender.pcapng")
    }
    # 45 kB are less than three transfers.
    with pytest.raises(UndisturbedTransferError, match=r"of 60000 B .* 45000 B passed"):
        conform(stack, [replace(SMALL, flows=3)])


@pytest.mark.usefixtures("guests")
def test_the_last_output_of_a_failed_client_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    real = _rtolab.emulate_programs

    def failing(path: Path, **given: Any) -> tuple[Any, dict[str, Any]]:
        outcome, report = real(path, **given)
        failed = path.name.startswith("late")
        return outcome, {**report, "returncode": 7 if failed else 0}

    monkeypatch.setattr(_rtolab, "emulate_programs", failing)
    stack = Stack("plain", {}, "serve", ("get", "{server}"), kernel=GUEST)
    [score] = conform(stack, [LATE])
    assert (score.outcome, score.said) == ("failed (exit status 7)", "served \ufffd404")


WORKER = """#!{python}
import json, shutil, sys
from pathlib import Path
_, module, order, found = sys.argv[1:]
orders = Path("{folder}")
shutil.copy(order, orders / Path(order).name)
orders.joinpath("module").write_text(module)
asked = json.loads(Path(order).read_text())
for host in ("server", "client"):
    folder = Path(order).with_suffix(".logs") / host
    (folder / "x.sqlog").write_text("qlog")
print("first")
print({said!r})
sys.stdout.flush()
if {found!r}:
    Path(found).write_text({found!r})
sys.exit(3)
"""


def worker(
    monkeypatch: pytest.MonkeyPatch, folder: Path, found: str, said: str = "the end"
) -> None:
    """Stands in for the process of a transfer, which prints `said` and leaves `found`."""
    script = folder / "worker"
    script.write_text(WORKER.format(python=sys.executable, folder=folder, found=found, said=said))
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    monkeypatch.setattr(run, "ASK_S", 0.01)
    monkeypatch.setattr(run, "TWINS", 1)


def test_a_client_and_a_server_have_a_process_for_each_transfer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = asdict(
        replace(measured(took_s=0.5, arrived=21_000), doubts=("slow",), exit_status=None)
    )
    worker(monkeypatch, tmp_path, json.dumps(found))
    monkeypatch.setattr(quic, "counts", lambda _: quic.LossCounts(6, 5, 4, 3, 2, 1))
    stack = Stack("quic", {"kernel.tun": True}, SERVER, CLIENT, lead_s=3.0)
    [score] = conform(stack, [LATE], limit_s=40.0, evidence=tmp_path / "kept")
    assert (tmp_path / "module").read_text() == "rtolab.conform.worker"
    order = json.loads((tmp_path / "late-0.order").read_text())
    folder = Path(order["scenario"]).parent
    assert order == {
        "scenario": str(folder / "late-0.toml"),
        "seed": LATE.seed,
        "server": f"serve {folder} 20000 {folder}/late-0.logs/server {{server}}",
        "client": ["get", "http://{server}/20000", f"--qlog={folder}/late-0.logs/client"],
        "lead_s": 3.0,
        "limit_s": 70.0,
        "evidence": str(folder / "late-0.evidence"),
        "set": [["kernel.tun", "true"]],
    }
    assert (score.ended, score.took_s, score.said) == ("recovered", 0.5, "")
    assert "slow" in score.doubts
    assert (score.declared_losses, score.spurious_timeouts) == (6, 1)
    kept = tmp_path / "kept" / "late"
    assert (kept / "output.txt").read_text() == "first\nthe end\n"
    assert (kept / "server" / "x.sqlog").read_text() == "qlog"
    assert (kept / "scenario.toml").exists()


@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        ("rtolab.EmulationError: no tun", EmulationError, "no tun"),
        ("rtolab.ScenarioError: --set kernel.frot: found", Error, "--set kernel.frot: found"),
        ("Killed", Error, "20-kB could not be run: Killed"),
        ("", Error, "20-kB could not be run: first"),
    ],
)
def test_a_transfer_without_a_result_is_an_error(
    said: str,
    kind: type[Exception],
    message: str,
    *,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    worker(monkeypatch, tmp_path, "", said)
    with pytest.raises(kind) as raised:
        conform(Stack("x", {}, "serve", ("get",)), [SMALL])
    assert type(raised.value) is kind
    assert str(raised.value).endswith(message)
    assert "rtolab." not in str(raised.value)
    assert json.loads(next(tmp_path.glob("*.order")).read_text())["evidence"] == ""


def test_a_failed_transfer_of_a_process_has_its_last_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    failed = replace(measured(ended=TransferOutcome.FAILED), exit_status=4)
    worker(monkeypatch, tmp_path, json.dumps(asdict(failed)), "cannot connect")
    with pytest.raises(UndisturbedTransferError) as raised:
        conform(Stack("x", {}, "serve", ("get",)), [SMALL])
    assert str(raised.value) == (
        "x: the transfer of 20 kB that nothing disturbs failed with exit status 4: the client must "
        "end with 0 when it has everything; the last line of client and server: cannot connect"
    )


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("", ""),
        ("one\n two \n\n", "two"),
        ("no certificate\nthe server ended with exit code 3\nnobody\n", "G: no certificate"),
        ("the server ended with exit code 3\nnobody\n", "G"),
    ],
)
def test_the_end_of_the_server_explains_a_failure(log: str, line: str) -> None:
    assert run._last_line_of(log) == line.replace("G", "the server ended with exit code 3")
