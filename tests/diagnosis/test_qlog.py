"""QUIC logs through the command line and Python."""

import gzip
import json
from pathlib import Path

import pytest

from program import run_here
from rtolab import Error
from rtolab.diagnosis import diagnose, diagnose_pair

LOGS = Path(__file__).parents[1] / "qlogs"
SERVER, CLIENT = (LOGS / f"quic-go-reordering.{end}.sqlog.gz" for end in ("server", "client"))


def test_one_log_agrees_with_the_logs_of_both_ends() -> None:
    alone, both = diagnose(SERVER), diagnose_pair(CLIENT, SERVER)
    assert both.document["sender_capture"] == 1
    [[one], [pair]] = (found.document["connections"] for found in (alone, both))
    verdicts = [loss["verdict"] for loss in one["losses"]]
    assert verdicts == [loss["verdict"] for loss in pair["losses"]]
    assert set(verdicts) == {"spurious"}
    assert alone.count("spurious-losses") == len(verdicts)
    assert alone.tables()["losses"].height == len(verdicts)


def test_the_command_prints_the_answer_and_fails_on_spurious_losses(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = run_here("diagnose", SERVER, "--html", page, "--fail-on", "spurious-losses>0")
    assert done.returncode == 1
    assert "arrived after all" in done.stdout
    cells = "134 0.224674 4 reordering_threshold 0.00767795 spurious 0.99 acknowledged-later"
    row = "".join(f"<td>{cell}</td>" for cell in cells.split())
    assert "Declared losses" in page.read_text()
    assert row in page.read_text()
    document = json.loads(run_here("diagnose", SERVER, "--json").stdout)
    assert document["answer"]["network"] == "late"


def test_percentages_are_of_the_bytes_or_the_losses_of_a_log() -> None:
    """20,092 of 291,092 stream bytes are retransmitted."""
    for limit, status in (("6%", 1), ("7%", 0), ("20091", 1)):
        assert run_here("diagnose", SERVER, "--fail-on", f"retransmissions>{limit}").returncode == (
            status
        )
    found = diagnose(SERVER)
    totals = found.document["summary"]["totals"]
    assert found.whole("unknown") == totals["losses"] > 0
    assert found.whole("unneeded") == totals["retransmissions"] > 0


def test_bytes_of_a_log_are_not_added_to_the_segments_of_a_capture() -> None:
    capture = min((LOGS.parent / "captures").glob("*.pcap*"))
    done = run_here("diagnose", SERVER, capture, "--fail-on", "unneeded>0")
    assert done.returncode == 2
    assert "check the logs and the captures separately" in " ".join(done.stderr.split())
    assert run_here("diagnose", SERVER, capture, "--fail-on", "timeouts>99").returncode == 0


def test_a_truncated_log_is_diagnosed_up_to_its_end(tmp_path: Path) -> None:
    log = tmp_path / "cut.sqlog"
    log.write_bytes(gzip.decompress(SERVER.read_bytes())[:-50])
    done = run_here("diagnose", log, "--json")
    assert done.returncode == 2
    assert "the log ends at byte" in done.stderr
    assert json.loads(done.stdout)["summary"]["totals"]["spurious_losses"]


def test_packets_are_needed_for_some_options(tmp_path: Path) -> None:
    done = run_here("diagnose", SERVER, "--annotate", tmp_path / "out.pcapng")
    assert done.returncode == 2
    assert "is a QUIC log; a capture is needed" in done.stderr
    with pytest.raises(Error, match="no connection in common"):
        diagnose_pair(SERVER, SERVER)


def test_the_command_prints_the_events_of_losses_and_timeouts(tmp_path: Path) -> None:
    [one] = diagnose(SERVER).document["connections"]
    losses = [loss["event"] for loss in one["losses"]]
    assert len(losses) > 5
    named = ", ".join(map(str, losses[:5]))
    printed = " ".join(run_here("diagnose", SERVER).stdout.split())
    lost = f"declared lost: {len(losses)} spurious (events {named} and {len(losses) - 5} more)"
    assert f"#1 {lost}" in printed
    page = tmp_path / "page.html"
    run_here("diagnose", SERVER, "--html", page)
    assert f"<li>{lost}</li>" in page.read_text()


def test_a_log_in_reverse_is_sorted(tmp_path: Path) -> None:
    header, *events = gzip.decompress(SERVER.read_bytes()).split(b"\n")
    ordered, reverse = tmp_path / "ordered.sqlog", tmp_path / "reverse.sqlog"
    ordered.write_bytes(b"\n".join([header, *events[:900]]))
    reverse.write_bytes(b"\n".join([header, *reversed(events[:900])]))
    done = run_here("diagnose", reverse)
    assert done.returncode == 0
    assert "sorted: " in done.stdout
    assert "out of time order, first event " in done.stdout
    known, found = (diagnose(log).document["connections"] for log in (ordered, reverse))
    assert known[0]["losses"]
    # Events of the same time are in another order, and one of them may be the cause of another.
    for key in ("bytes_sent", "packets", "stream_bytes", "has_acks"):
        assert found[0][key] == known[0][key], key


def test_a_log_of_no_quic_names_what_it_begins_with(tmp_path: Path) -> None:
    log = tmp_path / "other.sqlog"
    log.write_text('\x1e{"time": 1}\n')
    done = run_here("diagnose", log)
    assert done.returncode == 2
    assert 'found `{"time": 1}`' in done.stderr
