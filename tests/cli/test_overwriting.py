"""No command overwrites a file that it reads."""

import json
from pathlib import Path

import pytest

import program
from conform_results import measured, report, scored
from rtolab.diagnosis import TABLES, diagnose

TESTS = Path(__file__).parents[1]
CAPTURE = TESTS / "captures" / "stall-3s-sack-frto-off.sender.pcapng.gz"
LOG = TESTS / "qlogs" / "quic-go-reordering.client.sqlog.gz"
IMPORT = ["import", "mahimahi", "--delay", "20 ms", "--queue", "100 packets"]


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        ("one.svg", ["tune", "one.svg", "--plot", "one"]),
        ("one.html", ["plot", "one.html", "--out", "one.html"]),
        ("one.toml", ["gateway", "one.toml", "--pcap", "one.toml"]),
        ("conform.json", ["conform", "--beside", "conform.json", "--out", "."]),
        ("conform.json", ["conform", "--baseline", "conform.json", "--out", "."]),
        ("x.forward.opportunities", [*IMPORT, "x.forward.opportunities", "--out", "x.toml"]),
    ],
)
def test_an_input_is_not_overwritten(source: str, arguments: list[str], tmp_path: Path) -> None:
    file = tmp_path / source
    if source.endswith(".json"):
        file.write_text(json.dumps(report(scored(measured())).document()))
    elif source.endswith(".toml"):
        file.write_text("[[link]]\n")
    elif source.endswith("opportunities"):
        file.write_text("1\n2\n")
    else:
        file.write_bytes(CAPTURE.read_bytes())
    before = file.read_bytes()
    done = program.run(*arguments, cwd=tmp_path, env=program.environment())
    assert done.returncode == 2
    assert "would overwrite" in done.stderr
    assert source in done.stderr
    assert [one.name for one in tmp_path.iterdir()] == [source]
    assert file.read_bytes() == before


def test_the_file_of_standard_input_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "one.pcapng"
    file.write_bytes(CAPTURE.read_bytes())
    with file.open("rb") as given:
        done = program.run("diagnose", "-", "--html", file, stdin=given)
    assert done.returncode == 2
    assert "would overwrite" in done.stderr
    assert file.read_bytes() == CAPTURE.read_bytes()


@pytest.mark.parametrize("file", [CAPTURE, LOG])
def test_every_table_is_known_before_it_is_written(file: Path) -> None:
    assert set(diagnose(file).tables()) <= set(TABLES)
