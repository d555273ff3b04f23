"""The diagnosis of captures."""

import gzip
import json
import struct
import subprocess
from collections import Counter
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest
from rich.console import Console

import capture_scores
import labelled_captures
import program
from prerequisites import require_tool
from program import execute
from rtolab import Error, _rtolab
from rtolab.diagnosis import Diagnosis, annotate, diagnose, limits, page, tables
from rtolab.run import find_scenario
from rtolab.run import run as simulated

PACKET_BLOCK = 6
"""The type of an enhanced packet block of pcapng."""

KERNEL = Path(__file__).parents[1] / "captures" / "kernel"
"""Transfers of Linux 6.18 with known truth; the README in the folder says how they were made."""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture of our own: a simulated transfer over a link that stalls, at the sender."""
    file = tmp_path_factory.mktemp("captures") / "stall.pcapng"
    path = str(find_scenario("stall"))
    outcome = _rtolab.simulate(path, senders=["sack"], seeds=[1], trace=True)
    file.write_bytes(outcome.pcapng(0, "sender"))
    return file


def run(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return program.run_here("diagnose", *arguments, given=given, text=False)


def test_every_system_that_matches_a_syn_is_named(made: Path) -> None:
    [one] = diagnose(made).document["connections"]
    assert one["stack"]["systems"] == ["linux", "rtolab"]
    assert one["stack"]["confidence"] < 0.5
    reported = tables.of_stack(one)
    assert reported.startswith("may be linux or rtolab; their SYNs look alike (")
    assert "%" not in reported


@pytest.mark.parametrize("half", [0, 1])
def test_a_kernels_retransmissions_are_classified(half: int) -> None:
    names = capture_scores.names(KERNEL)
    assert len(names) == 10
    score = capture_scores.score(KERNEL, names[half::2])
    for side in ("snd", "rcv"):
        assert score.recall(side, "verdict", "unneeded") >= 0.99, score.wrong
        assert score.precision(side, "verdict", "unneeded") >= 0.99, score.wrong
    for what in ("timeout", "trigger"):
        found = {key for key in score.counts if key[:2] == ("snd", what)}
        assert found
        assert not [wrong for wrong in score.wrong if f" snd {what} " in wrong]


@pytest.mark.parametrize("sender", ["sack", "newreno", "sack+eifel", "newreno+frto"])
@pytest.mark.parametrize("scenario", ["frto2002-delays", "frto2002-outages", "stall", "rate-drop"])
@pytest.mark.parametrize("place", ["sender", "receiver"])
def test_no_simulated_retransmission_is_wrongly_called_unneeded(
    tmp_path: Path, scenario: str, sender: str, place: str
) -> None:
    path = str(find_scenario(scenario))
    outcome = _rtolab.simulate(path, senders=[sender], seeds=[1], trace=True)
    file = tmp_path / "capture.pcapng"
    file.write_bytes(outcome.pcapng(0, place))
    here = pl.DataFrame(outcome.table("segments")).filter(pl.col("place") == place).to_dicts()
    connections = diagnose(file).document["connections"]
    found = [one for c in connections for one in c["retransmissions"]]
    called = [one for one in found if one["verdict"] == "unneeded"]
    wrong = [one for one in called if not here[one["frame"] - 1]["unneeded"]]
    assert len(wrong) <= 0.03 * len(called), wrong
    event = "received" if place == "receiver" else "sent"
    unneeded = [row for row in here if row["event"] == event and row["unneeded"]]
    assert unneeded
    if place == "receiver":
        assert len(called) == len(unneeded)
    assert len(called) >= 0.5 * len(unneeded)


def test_a_compressed_or_piped_capture_gives_the_same_document(made: Path) -> None:
    plain = json.loads(run(str(made), "--json").stdout)
    piped = json.loads(run("-", "--json", given=gzip.compress(made.read_bytes())).stdout)
    assert plain.pop("capture") != piped.pop("capture")
    assert plain == piped
    assert plain["connections"][0]["vantage"] == "sender"


def test_a_truncated_capture_is_diagnosed_up_to_its_end(made: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(made.read_bytes()[:-20])
    done = run(str(cut), "--json")
    assert done.returncode == 2
    assert b"byte" in done.stderr
    assert json.loads(done.stdout)["summary"]["packets"] == (
        diagnose(made).document["summary"]["packets"] - 1
    )


def test_a_file_that_is_no_capture_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no capture")
    for file in (text, tmp_path / "nowhere.pcap"):
        done = run(str(file))
        assert done.returncode == 2
        assert file.name.encode() in done.stderr
        assert b"Traceback" not in done.stderr


def test_an_unknown_name_of_fail_on_is_answered_with_names_of_captures() -> None:
    for given, near in (("foo", "lost"), ("sparious", "spurious"), ("losess", "losses")):
        with pytest.raises(Error, match=f"nothing is counted as {given}; ") as found:
            limits([f"{given}>1"])
        names = str(found.value).split("; ")[1].removesuffix(" are").removesuffix(" is").split(", ")
        assert names[0].startswith(near)
        # Without a similar name the list is not complete, and says so.
        assert ("for example" in names) == (given == "foo")
        assert given != "foo" or names[-1] == "and in QUIC logs also spurious-losses and losses"


def test_fail_on_sets_the_exit_status(made: Path) -> None:
    found = diagnose(made)
    assert found.count("spurious") > 0
    assert run(str(made), "--fail-on", f"spurious>{found.count('spurious')}").returncode == 0
    assert run(str(made), "--fail-on", "spurious>0").returncode == 1
    assert run(str(made), "--fail-on", "sparious>0").returncode == 2
    with pytest.raises(Error, match="expected such as"):
        limits(["spurious"])


def test_no_capture_is_overwritten(made: Path, tmp_path: Path) -> None:
    whole = made.read_bytes()
    for name in ("one.pcapng", "other.pcapng"):
        (tmp_path / name).write_bytes(whole)
    one, other = str(tmp_path / "one.pcapng"), str(tmp_path / "other.pcapng")
    link = tmp_path / "link"
    link.symlink_to(one)
    (tmp_path / "timeouts.parquet").write_bytes(whole)
    for arguments in (
        (one, "--annotate", one),
        (one, other, "--annotate", str(tmp_path)),
        (one, "--html", one),
        (one, "--html", str(link)),
        (one, "--scenario-out", one),
        ("--pair", one, other, "--html", other),
        (str(tmp_path / "timeouts.parquet"), "--parquet", str(tmp_path)),
    ):
        done = run(*arguments)
        assert done.returncode == 2
        assert b"would overwrite" in done.stderr
    assert {file.read_bytes() for file in tmp_path.iterdir()} == {whole}


def test_two_captures_of_one_name_cannot_share_an_output_folder(made: Path, tmp_path: Path) -> None:
    same = tmp_path / "elsewhere" / made.name
    same.parent.mkdir()
    same.write_bytes(made.read_bytes())
    for option in ("--annotate", "--parquet"):
        done = run(str(made), str(same), option, str(tmp_path / "out"))
        assert done.returncode == 2
        assert b"would be written to the same files" in done.stderr
    assert not (tmp_path / "out").exists()
    assert run(str(made), str(same)).returncode == 0


def test_an_unreadable_capture_does_not_stop_the_others(made: Path, tmp_path: Path) -> None:
    (tmp_path / "no.pcap").write_text("no capture")
    done = run(str(made), str(tmp_path / "no.pcap"), "--json", "--annotate", str(tmp_path / "told"))
    assert done.returncode == 2
    assert [one["capture"] for one in json.loads(done.stdout)] == [str(made)]
    assert (tmp_path / "told" / "stall.pcapng").is_file()


@pytest.mark.parametrize(("whose", "blind"), [("client", False), ("server", True)])
def test_only_the_sender_of_a_flow_shows_why_it_retransmits(whose: str, *, blind: bool) -> None:
    episode = {"from": whose, "start": 1.0, "frames": [7, 9], "description": "It was lost."}
    none = {"habits": [], "silences": [], "retransmissions": [{"from": whose}]}
    one = {"number": 1, "sender": "server", "vantage": "receiver", "episodes": [episode]} | none
    found = Diagnosis("x", {"summary": {"began": 0.0}}, cast("_rtolab.Diagnosis", None))
    reported = Console(file=StringIO(), width=400, record=True)
    reported.print(tables._stories(found, one, None))
    text = reported.export_text()
    assert ("frame 7, data of the client: It was lost." in text) != blind
    assert ("A capture at the sender shows" in text) == blind


def test_a_page_draws_the_end_that_retransmits_most() -> None:
    """A client that receives most of the data may be the one that retransmits."""
    one = {"sender": "server", "retransmissions": [{"from": "client"}]}
    assert page._drawn(one) == "client"
    assert page._drawn(one | {"retransmissions": []}) == "server"


def test_wireshark_shows_the_verdicts(made: Path, tmp_path: Path) -> None:
    tshark = require_tool("tshark", "tshark")
    found, copy = diagnose(made), tmp_path / "told.pcapng"
    annotate(found, copy)
    fields = ["-T", "fields", "-e", "frame.number", "-e", "frame.comment"]
    command = [tshark, "-n", "-r", str(copy), "-Y", 'frame.comment contains "rtolab"', *fields]
    done = execute(*command, check=True)
    reported = {int(line.split("\t")[0]) for line in done.stdout.splitlines()}
    resent = {one["frame"] for one in found.document["connections"][0]["retransmissions"]}
    assert resent <= reported
    assert diagnose(copy).document["connections"] == found.document["connections"]


def test_tables_and_page_contain_the_document(made: Path, tmp_path: Path) -> None:
    found = diagnose(made)
    files = found.write_parquet(tmp_path)
    resent = pl.read_parquet(tmp_path / "retransmissions.parquet")
    assert resent.height == found.count("retransmissions")
    assert {file.stem for file in files} >= {"connections", "retransmissions", "timeouts"}
    html = page.page([found])
    [one] = found.document["connections"]
    assert f"<td>{tables.time_lost(one)}</td>" in html
    assert tables.time_lost(one | {"time_lost": None}) == "-"
    assert "application/gzip" in html


def test_tables_hold_the_rows_of_the_document(made: Path) -> None:
    found = diagnose(made)
    reported = found.tables()
    [one] = found.document["connections"]
    named = {"retransmissions": "retransmissions", "timeouts": "timeouts", "episodes": "episodes"}
    for table, key in {**named, "findings": "habits"}.items():
        rows = [{"connection": one["number"], **flat(row)} for row in one[key]]
        assert rows, key
        shown = reported[table].rows(named=True)
        assert [present(row) for row in shown] == [present(row) for row in rows], table
    nested = (*named, "silences", "habits")
    plain = flat({key: value for key, value in one.items() if key not in nested})
    [row] = reported["connections"].rows(named=True)
    assert present(row) == present(plain)


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the document under the names of tables."""
    cells: dict[str, Any] = {}
    for key, value in row.items():
        if key in ("evidence", "against"):
            cells[key] = [piece["kind"] for piece in value]
        elif key == "verdicts":
            cells[key] = json.dumps(value, separators=(",", ":"))
        elif isinstance(value, dict):
            cells |= {f"{key}_{name}": part for name, part in value.items()}
        else:
            cells["kind" if key == "habit" else key] = value
    return cells


def present(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}


NO_EVIDENCE = {"kernel.timestamps": False, "kernel.sack": False, "kernel.dsack": False}


@pytest.mark.parametrize(
    ("sender", "stall", "outage"), [("linux", 5, 9), ("linux", None, 5), ("newreno+frto", None, 5)]
)
def test_the_losses_of_an_outage_are_found_without_timestamps_and_sack(
    tmp_path: Path, sender: str, stall: int | None, outage: int
) -> None:
    """The verdict on one lost range supports the verdict on the range after it."""
    stalls = f'[{{ at = "{stall} s", for = "3 s" }}]' if stall else "[]"
    outages = f'[{{ at = "{outage} s", for = "1 s" }}]'
    set = {
        "link.radio.stalls.scripted": stalls,
        "link.radio.forward.outages.scripted": outages,
        **(NO_EVIDENCE if sender == "linux" else {}),
    }
    result = simulated("kernel-stall", sender=sender, set=set)
    (tmp_path / "outage.sender.pcapng").write_bytes(result.pcapng(0, "sender"))
    one = labelled_captures.Labelled("outage", result, 0)
    labels = labelled_captures.labels(one, "sender")
    labels.write_parquet(tmp_path / "outage.sender.labels.parquet")
    compared = labelled_captures.compared(tmp_path, "outage.sender")
    found = {key[2:]: count for key, count in compared.items()}
    assert found["needed", "needed"] > 0.9 * (
        found["needed", "needed"] + found["needed", "unknown"]
    )
    assert not [key for key in found if key[1] not in (key[0], "unknown")]


def without(capture: bytes, packets: int) -> bytes:
    """A pcapng without the first packets."""
    kept, at = [], 0
    while at < len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        is_packet = kind == PACKET_BLOCK
        if not is_packet or packets <= 0:
            kept.append(capture[at : at + length])
        packets -= is_packet
        at += length
    return b"".join(kept)


def test_data_acknowledged_before_the_capture_began_is_unneeded(tmp_path: Path) -> None:
    set = {"kernel.frto": 0, "kernel.timestamps": False}
    capture = simulated("kernel-stall", sender="linux", set=set).pcapng(0, "receiver")
    file = tmp_path / "middle.pcapng"
    file.write_bytes(without(capture, 540))
    [connection] = diagnose(file).document["connections"]
    assert connection["vantage"] == "receiver"
    kinds = Counter(e["kind"] for r in connection["retransmissions"] for e in r["evidence"])
    assert kinds["already-acknowledged"] > 5
    assert {one["verdict"] for one in connection["retransmissions"]} == {"unneeded"}


def shown(found: Diagnosis) -> str:
    console = Console(width=100, file=StringIO(), color_system=None)
    console.print(tables.diagnosis(found, 10))
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_an_address_of_ipv6_is_shown_with_its_brackets(made: Path) -> None:
    found = diagnose(made)
    document = found.document
    document["connections"][0]["client"] = "[fe80::a00:1]:49152"
    assert "[fe80::a00:1]:49152" in shown(found)


def test_duplicate_and_missing_packets_are_reported(made: Path) -> None:
    found = diagnose(made)
    document = found.document
    assert "captured twice" not in shown(found)
    lacking = {"captured_twice": 3, "duplicated": 1, "missed_bytes": 1460}
    document["connections"][0] |= {**lacking, "vantage": "receiver"}
    assert found.lacks == (
        "captured twice or duplicated by the network: 3 packets; "
        "duplicated by the network: 1 data segment; acknowledged, not captured: 1460 bytes"
    )
    document["connections"][0]["capture_points"] = 2
    assert found.lacks.startswith("captured at two points: 3 packets; ")
    reported = shown(found)
    assert found.lacks in " ".join(reported.split())
    assert "Captured at the receiver" in reported


def test_captures_that_continue_one_another_can_be_joined(made: Path, tmp_path: Path) -> None:
    require_tool("editcap", "tshark")
    first, second = (tmp_path / name for name in ("1.pcapng", "2.pcapng"))
    subprocess.run(["editcap", "-r", made, first, "1-60"], check=True)
    subprocess.run(["editcap", made, second, "1-60"], check=True)
    for order in ([first, second], [second, first]):
        said = program.run_here("diagnose", *map(str, order)).stderr
        assert f"`mergecap -a -w joined.pcapng {first} {second}`" in said, said
        assert "1 connection goes on from one capture to the next" in said, said
    # Another capture of the same transfer, not one that follows.
    assert "mergecap" not in program.run_here("diagnose", str(first), str(made)).stderr
