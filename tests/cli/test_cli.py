from __future__ import annotations

import io
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

import program
from commands import commands
from rtolab import ScenarioError, SenderError, _rtolab, cli, experiments, plot
from rtolab.cli import listing, serve, terminal
from rtolab.run import find_scenario

if TYPE_CHECKING:
    from handmade_tables import Simulator


ROOT = Path(__file__).parents[2]


@pytest.fixture
def simulator(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Simulator:
    monkeypatch.setattr(plot, "save_spec", sketch)
    return simulator


def sketch(_spec: object, stem: Path) -> Path:
    """Stand in for the drawing of figures, which takes half a second each and has other tests."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    file = stem.with_name(f"{stem.name}.svg")
    file.touch()
    return file


class Ran:
    """A command that was run: its exit code and what it printed."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def rtolab(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Any:
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> Ran:
        code = program.call(monkeypatch, *arguments)
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return command


@pytest.mark.parametrize("command", [one.name for one in commands()])
def test_every_command_has_help_with_an_example(rtolab: Any, command: str) -> None:
    ran = rtolab(command, "--help")
    assert ran.code == 0
    example = r"Example: (tcpdump .* \| )?rtolab " + command
    assert re.search(example, ran.out)


def test_without_a_command_it_shows_the_first_steps(rtolab: Any) -> None:
    ran = rtolab()
    assert ran.code == 0
    shown = re.findall(r"^  rtolab (\S+)", ran.out, re.MULTILINE)
    assert len(shown) == 5
    assert set(shown) - {"--help"} <= set(cli.commands.COMMANDS)


def test_help_is_as_wide_as_the_terminal(rtolab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    lines = [line.strip() for line in rtolab("diagnose", "--help").out.splitlines()]
    begin = lines.index("The verdicts are those of the engine's detectors (`rtolab list")
    assert lines[begin + 1 : begin + 4] == [
        "detectors`). Detectors written in Python apply to runs, not to",
        "captures.",
        "",
    ]


def test_the_version_has_the_commit_and_the_extras(rtolab: Any) -> None:
    ran = rtolab("--version")
    first, second = ran.out.splitlines()
    assert ran.code == 0
    commit = f" (commit {_rtolab.__commit__})" if _rtolab.__commit__ else ""
    assert first == f"rtolab {_rtolab.__version__}{commit}"
    assert second.startswith("extras: ")
    assert second.endswith("(of dask, mcp)")


def test_list_names_policies_and_experiments(rtolab: Any) -> None:
    assert "frto2002/table1, frto2002/fig6" in rtolab("list").out
    listed = json.loads(rtolab("list", "--json").out)
    assert list(listed) == [
        *("policies", "receivers", "detectors", "measures", "scenarios", "conform", "experiments"),
    ]
    assert "frto" in [policy["name"] for policy in listed["policies"]]
    assert listed["experiments"][0]["aliases"] == ["frto2002/fig6"]


KINDS = [
    ("senders", "policies", "sack:rfc6675"),
    ("receivers", "receivers", "bsdi-3.0"),
    ("detectors", "detectors", "originals"),
    ("measures", "measures", "effective_goodput"),
    ("scenarios", "scenarios", "frto2002-delays"),
    ("experiments", "experiments", "frto2002/table2"),
]


@pytest.mark.parametrize(("kind", "key", "name"), KINDS, ids=[kind for kind, *_ in KINDS])
def test_list_takes_one_kind(rtolab: Any, kind: str, key: str, name: str) -> None:
    shown = rtolab("list", kind).out
    assert name in shown
    others = [other for other_kind, _, other in KINDS if other_kind != kind]
    assert not [other for other in others if other in shown and other != "bsdi-3.0"]
    listed = json.loads(rtolab("list", kind, "--json").out)
    assert list(listed) == [key]
    assert listed[key] == json.loads(rtolab("list", "--json").out)[key]
    assert name in [one.get("name", one.get("id")) for one in listed[key]]


def test_the_scenarios_are_in_the_package_too() -> None:
    """A wheel contains the package's folder and the files that pyproject.toml includes."""
    top = Path(__file__).parents[2]
    shipped, packed = top / "scenarios", top / "python" / "rtolab" / "scenarios"
    maturin = tomllib.loads((top / "pyproject.toml").read_text())["tool"]["maturin"]
    patterns = [one["path"] for one in maturin["include"] if "wheel" in one["format"]]
    named = {path.relative_to(packed) for pattern in patterns for path in top.glob(pattern)}
    assert named == {path.relative_to(shipped) for path in shipped.rglob("*") if path.is_file()}
    assert find_scenario("frto2002-delays") == shipped / "frto2002-delays.toml"


def test_a_scenario_is_found_without_listing_all(monkeypatch: pytest.MonkeyPatch) -> None:
    listing = sys.modules["rtolab.run"]
    monkeypatch.setattr(listing, "included_scenarios", lambda: pytest.fail("listed"))
    assert find_scenario("stall").name == "stall.toml"


def test_a_key_that_the_profiles_of_all_senders_override_is_refused(rtolab: Any) -> None:
    key = ("run", "stall", "--set", "tcp.rto.min=300 ms", "--sender")
    ran = rtolab(*key, "linux-2.4")
    assert ran.code == 2
    assert ran.err.startswith(
        'rtolab: --set tcp.rto.min: found "300 ms", but the profile linux-2.4'
    )
    assert rtolab(*key, "linux-2.4", "--sender", "sack").code == 0


def test_a_key_is_explained_with_its_choices(rtolab: Any) -> None:
    reported = rtolab("explain", "tcp.rto.timer").out
    for part in ("exact", "ticks", "wheel-250", 'tcp.rto.timer = "exact"'):
        assert part in reported
    (document,) = json.loads(rtolab("explain", "tcp.rto.timer", "--json").out)
    assert document["parts"].keys() == {"exact", "ticks", "wheel-1000", "wheel-250"}
    ran = rtolab("explain", "tcp.rto.mim")
    assert ran.code == 2
    assert ran.err.startswith("rtolab: found 'tcp.rto.mim'; expected tcp.rto.min")


def test_each_sender_is_explained_in_one_line(rtolab: Any) -> None:
    lines = [line.split() for line in rtolab("list", "senders").out.splitlines()]
    policies = json.loads(rtolab("list", "senders", "--json").out)["policies"]
    for policy in policies:
        words = (policy["name"], *policy["about"].split(), *policy["source"].split())
        assert list(words) in lines, policy["name"]
    # Grouped by question, and the groups in the usual order of a specification.
    first = {policy["question"]: policy["name"] for policy in reversed(policies)}
    names = [line[0] for line in lines if line]
    order = [names.index(first[question]) for question in listing.QUESTIONS]
    assert order == sorted(order)


def test_every_question_has_a_title() -> None:
    assert {policy["question"] for policy in _rtolab.policies()} == set(listing.QUESTIONS)


def test_a_narrow_terminal_gets_one_line_per_policy() -> None:
    console = Console(width=80, file=io.StringIO())
    with console.capture() as captured:
        console.print(listing.text(listing.Kind.SENDERS, 80))
    lines = [line.strip().split() for line in captured.get().splitlines()]
    for policy in _rtolab.policies():
        said = [policy["name"], *policy["about"].split()]
        assert any(line[: len(said)] == said for line in lines)
    assert all(len(line) <= 80 for line in captured.get().splitlines())


def test_a_profile_is_listed_with_its_behaviours_and_their_sources(rtolab: Any) -> None:
    listed = json.loads(rtolab("list", "senders", "--json").out)["policies"]
    parts = {"name", "question", "about", "source", "behaviours"}
    assert all(set(policy) == parts for policy in listed)
    profiles = {policy["name"]: policy for policy in listed if policy["question"] == "profile"}
    behaviours = profiles["windows-98"]["behaviours"]
    assert behaviours[1] == {
        "about": "a fast retransmit on the second duplicate",
        "source": "Gurtov 2001, section 5.3",
    }
    receivers = json.loads(rtolab("list", "receivers", "--json").out)["receivers"]
    assert {receiver["name"] for receiver in receivers} == set(profiles)
    heartbeat = "a heartbeat of 200 ms, at 0 s unless a phase is set"
    assert heartbeat in rtolab("list", "receivers").out


TOGETHER = [
    *("newreno+frto", "sack+eifel:rfc3522+rfc4015", "linux-2.4", "sack+eifel:rfc3522:rfc4015"),
    *("sack+minrto+frto+eifel+dsack+badrexmit+linux", "sack+linux+eifel", "bsdi-3.0+frto"),
]
APART = [
    *(
        "sack+newreno",
        "linux-2.4+sack",
        "frto",
        "sack+frto+frto:linux",
        "sack+minrto+minrto:resync",
    ),
    *("sack+eifel+eifel:safe", "sack+frto+dualrtt", "newreno+dsack", "sack+rfc4015"),
    *("sack+eifel+full+half", "sack+linux-2.4"),
]


def test_specifications_are_as_the_list_explains_them() -> None:
    scenario = Path(__file__).parents[2] / "scenarios" / "frto2002-delays.toml"
    _rtolab.check(scenario, senders=TOGETHER)
    for wrong in APART:
        with pytest.raises(SenderError):
            _rtolab.check(scenario, senders=[wrong])


def test_reproduce_prints_published_beside_measured(rtolab: Any, simulator: Simulator) -> None:
    ran = rtolab("reproduce", "frto2002/table1")
    assert ran.code == 0, ran.err
    (row,) = [line.split() for line in ran.out.splitlines() if "Regular SACK" in line]
    assert row == ["Regular", "SACK", "94.13", "94.13", "9", "9", "57", "57"]
    assert re.search(r"^PASS  (\d+) of \1 of the paper's checks pass", ran.out, re.MULTILINE)
    assert "report: out/report.html" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80
    assert simulator.requested[0]["jobs"] == 0


def test_a_failed_verdict_is_explained_and_exits_with_1(
    rtolab: Any, simulator: Simulator, tmp_path: Path
) -> None:
    simulator.medians["sack+frto"] = (94.0, 9, 57)
    ran = rtolab("reproduce", "frto2002/table1", "--out", "elsewhere")
    assert ran.code == 1
    assert "FAIL" in ran.out
    wanted = "Regular / F-RTO, SACK expected 1.12 to 1.35 (300 runs or more); measured 1.0"
    assert wanted in " ".join(ran.out.split())
    document = json.loads((tmp_path / "elsewhere/frto2002/table1/result.json").read_text())
    assert document["verdict"] == "fail"


def test_json_has_one_document_per_experiment(rtolab: Any, simulator: Simulator) -> None:
    ran = rtolab("reproduce", "frto2002/table1", "--json", "--runs", "30", "--seed", "5")
    document = json.loads(ran.out)
    assert (document["experiment"], document["runs"], document["seed"]) == (
        *("frto2002/table1", 30),
        5,
    )
    assert simulator.requested[0]["seeds"] == range(5, 35)
    several = json.loads(rtolab("reproduce", "frto2002/fig1", "frto2002/fig2", "--json").out)
    assert [document["experiment"] for document in several] == ["frto2002/fig1", "frto2002/fig2"]


def test_assume_replaces_an_assumption(rtolab: Any, simulator: Simulator) -> None:
    ran = rtolab("reproduce", "frto2002/fig2", "--json", "--assume", "receiver.ack_every=1")
    assumed = {a["name"]: a for a in json.loads(ran.out)["assumptions"]}
    assert assumed["receiver.ack_every"]["value"] == "1"
    assert dict(simulator.requested[0]["set"])["receiver.ack_every"] == "1"


def test_a_finished_experiment_is_kept_except_with_fresh(rtolab: Any, simulator: Simulator) -> None:
    command = ("reproduce", "frto2002/table1", "--runs", "30")
    first = rtolab(*command)
    assert "kept" not in first.out + first.err
    requested = len(simulator.requested)
    again = rtolab(*command)
    assert "kept from an earlier run" in again.out
    assert "1 of 1 kept from an earlier run" in again.err
    assert len(simulator.requested) == requested
    assert rtolab(*command, "--json").out == rtolab(*command, "--json").out
    assert "kept" not in rtolab(*command, "--fresh").out
    assert len(simulator.requested) == 2 * requested


def test_an_interrupted_command_says_how_to_continue(
    rtolab: Any, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(path: Any, **requested: Any) -> Any:
        if simulator.requested:
            raise KeyboardInterrupt
        return simulator(path, **requested)

    command = ("reproduce", "frto2002/fig1", "frto2002/fig2", "--quick")
    with monkeypatch.context() as patch:
        patch.setattr(_rtolab, "simulate", interrupt)
        ran = rtolab(*command)
    assert ran.code == 130
    assert "1 of 2 experiments are finished; the same command continues from there" in ran.err
    assert not Path("out/report.html").exists()
    assert "1 of 2 kept from an earlier run" in rtolab(*command).err
    assert len(simulator.requested) == 2


def test_quick_writes_no_figures(rtolab: Any, simulator: Simulator) -> None:
    ran = rtolab("reproduce", "frto2002/fig2", "frto2002/table1", "--quick")
    assert ran.code == 0
    assert list(Path("out").rglob("*.svg")) == []
    assert simulator.requested[1]["seeds"] == range(1, 11)


def test_the_output_ends_with_a_summary(rtolab: Any, simulator: Simulator) -> None:
    ran = rtolab("reproduce", "frto2002/table1", "frto2002/fig2", "--quick")
    rows = [line.split() for line in ran.out.splitlines()]
    (head,) = [row for row in rows if row[:2] == ["Passing", "of"]]
    assert head[2:] == [
        *("before", "after", "paper's", "fail", "open", "never", "ours", "unstated"),
    ]
    (line,) = [row for row in rows if row[:1] == ["frto2002"]]
    before, after, paper, failing, open_, never, ours, unstated = map(_numbers, line[1:])
    assert paper == _sum(before, after)
    assert paper[1] - paper[0] == failing[0] + open_[0] + never[0]
    found = experiments.find(["frto2002/table1", "frto2002/fig2"])
    assert _sum(paper, ours, unstated)[1] == sum(len(one.checks) for one in found)
    assert simulator.requested


def _numbers(cell: str) -> list[int]:
    return [0, 0] if cell == "-" else [int(part) for part in cell.split("/")]


def _sum(*counts: list[int]) -> list[int]:
    return [sum(column) for column in zip(*counts, strict=True)]


def test_run_prints_one_row_per_sender(rtolab: Any, simulator: Simulator) -> None:
    ran = rtolab("run", "x", "-s", "sack", "--sender", "sack+frto", "--runs", "3", "--jobs", "2")
    assert ran.code == 0
    rows = [line.split() for line in ran.out.splitlines() if " sack" in line]
    assert [row[:4] for row in rows] == [
        ["sack", "transfer", "3/3", "94.13"],
        ["sack+frto", "transfer", "3/3", "76.23"],
    ]
    assert (simulator.requested[0]["jobs"], simulator.requested[0]["trace"]) == (2, False)


def test_run_compares_any_number_of_senders(rtolab: Any, simulator: Simulator) -> None:
    long = "sack+eifel:rfc3522+badrexmit+dsack+frto:rfc5682-sack+rfc4015"
    senders = ["reno", long, "newreno:timestamp-heuristic", "linux-2.4", "newreno", "sack"]
    simulator.medians |= dict.fromkeys(senders, (94.5, 2, 3))
    named = [argument for sender in [*senders, "reno"] for argument in ("-s", sender)]
    ran = rtolab("run", "x", *named, "--runs", "2", "--seed", "7")
    # A sender that is named twice runs once. All senders run with the same seeds, in their order.
    assert simulator.requested[0]["senders"] == senders
    assert simulator.requested[0]["seeds"] == range(7, 9)
    rows = [line.split() for line in ran.out.splitlines() if " transfer " in line]
    assert [row[0] for row in rows] == ["reno", "sack+eifel:rfc3522", *senders[2:]]
    assert {tuple(row[1:4]) for row in rows} == {("transfer", "2/2", "94.50")}
    assert "+badrexmit+dsack\n" in "\n".join(line.strip() for line in ran.out.splitlines())


def test_run_writes_tables_captures_and_figures_of_one_run(
    rtolab: Any, simulator: Simulator, tmp_path: Path
) -> None:
    ran = rtolab("run", "x", "-s", "sack", "-s", "sack+frto", "--out", "o", "--json")
    names = {path.name for path in (tmp_path / "o").iterdir()}
    assert {"segments.parquet", "run-0-sack-sender.pcapng", "sack+frto-receiver.svg"} <= names
    document = json.loads(ran.out)
    assert len(document["files"]) == len(names)
    effort = {"set_up_s", "run_s", "data_packets_delivered", "events", "peak_memory_mb"}
    assert effort <= set(document)
    assert [c["sender"] for c in document["connections"]] == ["sack", "sack+frto"]
    assert simulator.requested[0]["trace"]


def test_what_to_do_next_names_a_program_that_the_shell_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = tmp_path / ".venv" / "bin" / "rtolab"
    ours.parent.mkdir(parents=True)
    ours.write_text("#!/bin/sh\n")
    ours.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [".venv/bin/rtolab", "demo"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert terminal.program() == ".venv/bin/rtolab"
    monkeypatch.setenv("PATH", str(ours.parent))
    assert terminal.program() == "rtolab", "the environment is active"
    monkeypatch.setattr("sys.argv", ["/usr/lib/python3/rtolab/cli/__main__.py"])
    assert terminal.program() == "rtolab"


def test_a_default_installation_has_the_explorer() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[<>=]", one)[0] for one in project["dependencies"]}
    assert set(serve.NEEDED) <= names


def test_set_overrides_the_scenario(rtolab: Any, simulator: Simulator) -> None:
    rtolab("run", "x", "--set", "link.wireless.loss=0.02", "--set", "flow.transfer.bytes = 1 kB")
    assert simulator.requested[0]["set"] == [
        *(("link.wireless.loss", "0.02"), ("flow.transfer.bytes", "1 kB")),
    ]


def test_demo_prints_three_tables_and_names_its_files(rtolab: Any, simulator: Simulator) -> None:
    ran = rtolab("demo", "--runs", "30", "--jobs", "1")
    assert (ran.code, ran.err) == (0, "")
    assert "next: " in ran.out
    assert [table for table in (1, 2, 3) if f"frto2002/table{table}" in ran.out] == [1, 2, 3]
    for name in ("table2/throughput-2-loss.svg", "fig1/sack-sender.svg"):
        assert f"wrote out/frto2002/{name}" in ran.out
    assert "wrote out/frto2002/fig2/run-1-sack+frto-sender.pcapng" in ran.out
    assert "report: out/report.html" in ran.out
    assert len(simulator.requested) == 5 + 2
    assert "Passing of" not in ran.out


WRONG = [
    (["reproduce", "frto2002/table1", "--search"], "found frto2002/table1; expected one that"),
    (["reproduce", "dualrtt2004", "--search"], "experiments; expected one that declares"),
    (["reproduce", "dualrtt2004/table2", "--search", "--quick"], "leave out --quick"),
    (["reproduce", "dualrtt2004/fig5", "--quick", "--assumptions"], "leave out --quick"),
    (["run", "nowhere.toml"], "nowhere.toml: found no such file"),
    (["run", "x", "--set", "loss"], "--set loss: expected key=value"),
    (["reproduce", "--runs", "0"], "--runs"),
    (["reproduce", "--assume", "=1"], "--assume =1: expected key=value"),
    (["frobnicate"], "No such command"),
    (["list", "sender"], "'sender' is not one of 'senders'"),
    (["run"], "Missing argument"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=lambda x: str(x)[:40])
def test_invalid_input_is_named_and_exits_with_2(
    rtolab: Any, arguments: list[str], message: str
) -> None:
    ran = rtolab(*arguments)
    assert ran.code == 2
    assert message.lower() in ran.err.lower()
    assert "Traceback" not in ran.err
    assert ran.out == ""


INVALID_KEYS = [
    ("queue", "queeu", ":22: link.wireless.queeu: found an unknown key", 'did you mean "queue"?'),
    ('"28.8 kbit/s"', '"-28.8 kbit/s"', ":20: link.wireless.rate: found", "such as"),
    ('"28.8 kbit/s"', '"28.8 ms"', ":20: link.wireless.rate: found", "a time; expected a rate"),
    ('"sack"', '"sakc"', "tcp.sender: found", "sack"),
]


@pytest.mark.parametrize("change", INVALID_KEYS, ids=lambda change: change[1])
def test_an_invalid_scenario_is_reported_with_file_line_and_key(
    rtolab: Any, tmp_path: Path, change: tuple[str, str, str, str]
) -> None:
    right, wrong, place, hint = change
    shipped = Path(__file__).parents[2] / "scenarios" / "frto2002-delays.toml"
    text = shipped.read_text()
    assert right in text
    invalid = tmp_path / "invalid.toml"
    invalid.write_text(text.replace(right, wrong))
    ran = rtolab("run", str(invalid))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"rtolab: {invalid}:")
    assert place in ran.err
    assert hint in ran.err
    assert "Traceback" not in ran.err


def test_a_binary_scenario_and_an_unknown_policy_are_errors(rtolab: Any, tmp_path: Path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    ran = rtolab("run", str(binary))
    assert (ran.code, ran.out) == (2, "")
    assert "binary.toml" in ran.err
    assert "UTF-8" in ran.err
    ran = rtolab("run", "frto2002-delays", "--sender", "sack+frot")
    assert (ran.code, ran.out) == (2, "")
    assert "unknown policy `frot` in sender `sack+frot`" in ran.err
    assert "`rtolab list senders` explains" in ran.err


@pytest.mark.usefixtures("simulator")
def test_an_error_of_the_simulator_exits_with_2(
    rtolab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reject(*_: Any, **__: Any) -> None:
        raise ScenarioError("x.toml, line 3: link.rate: found -1; expected a rate")

    monkeypatch.setattr(_rtolab, "simulate", reject)
    ran = rtolab("run", "x.toml")
    assert (ran.code, ran.err) == (
        2,
        "rtolab: x.toml, line 3: link.rate: found -1; expected a rate\n",
    )


@pytest.mark.usefixtures("simulator")
def test_a_defect_is_not_the_users_fault(rtolab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise _rtolab.InternalError("defect in rtolab")

    monkeypatch.setattr(_rtolab, "simulate", fail)
    assert rtolab("run", "x.toml").code == 70


def test_a_folder_that_cannot_be_made_exits_with_2(
    rtolab: Any, simulator: Simulator, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    ran = rtolab("reproduce", "frto2002/fig1", "--out", "file/out")
    assert ran.code == 2
    assert ran.err.startswith("rtolab: file/out: ")
    assert simulator.requested == []


@pytest.mark.usefixtures("simulator")
def test_interrupted_exits_with_130(rtolab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_rtolab, "simulate", interrupt)
    ran = rtolab("run", "x.toml")
    assert ran.code == 130
    assert "Traceback" not in ran.err


def test_a_command_whose_reader_closes_the_pipe_ends_silently() -> None:
    ran = program.shell("rtolab schema | true; echo ${PIPESTATUS[0]}")
    assert ran.stdout.strip() in {"0", "141"}
    assert ran.stderr == ""


def test_output_into_a_pipe_has_no_colours() -> None:
    ran = program.shell("rtolab list")
    assert ran.returncode == 0
    assert "\x1b" not in ran.stdout + ran.stderr


def test_more_runs_than_memory_holds_are_refused_at_once(rtolab: Any) -> None:
    ran = rtolab("run", "tail", "--runs", str(10**9))
    assert ran.code == 2
    assert "runs is 1000000000: at most 10000000; `rtolab sweep` keeps more" in ran.err


def test_progress_is_logged_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with terminal.progressing("sweeping") as tell:
        tell(1, 3)
        monkeypatch.setattr(terminal, "LOGGED_EVERY_S", 0.0)
        tell(2, 3)
    assert capsys.readouterr().err == "rtolab: sweeping: 2 of 3\n"
