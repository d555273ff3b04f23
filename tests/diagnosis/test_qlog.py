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
