"""`rtolab import`: from the files of other programs to a scenario that runs."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import rtolab
from rtolab._rtolab import Error
from rtolab.cli import app
from rtolab.paths import Stated, read_path, write_scenario


def imported(folder: Path, form: str, *files: Path, stated: Stated | None = None) -> Any:
    """The scenario of these files, as a document; it is at `folder`/path.toml and runs."""
    out = folder / "path.toml"
    write_scenario(read_path(form, files), out, stated)
    rtolab.run(out, sender="linux", set={"duration": "1 s"})
    return tomllib.loads(out.read_text())


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_mahimahi_from_the_command_to_a_run(tmp_path: Path) -> None:
    up = written(tmp_path / "cell.up", "5\n10\n\n20\n")
    down = written(tmp_path / "cell.down", "0\n1\n1\n2\n4\n10\n")
    out = tmp_path / "path.toml"
    arguments = ["import", "mahimahi", str(up), str(down), "--out", str(out)]
    result = CliRunner().invoke(app, [*arguments, "--delay", "30 ms", "--queue", "100 packets"])
    assert result.exit_code == 0, result.output
    assert f"wrote {out}" in result.output.replace("\n", "")
    scenario = tomllib.loads(out.read_text())
    link = scenario["link"][0]
    assert scenario["duration"] == "0.02 s"
    assert (link["delay"], link["queue"]) == ("30 ms", "100 packets")
    assert link["forward"] == {"rate_trace": "path.forward.opportunities"}
    assert (tmp_path / "path.forward.opportunities").read_text() == "0\n1\n1\n2\n4\n10\n"
    assert (tmp_path / "path.backward.opportunities").read_text() == "5\n10\n20\n"
    # Six opportunities of 1500 B in 10 ms are 7.2 Mbit/s.
    flows = rtolab.run(out, sender="linux", set={"duration": "60 s"}).connections
    assert 6000 < 5e6 * 8 / 1000 / flows["elapsed_s"][0] < 7200


def test_one_mahimahi_trace_serves_both_directions(tmp_path: Path) -> None:
    link = imported(tmp_path, "mahimahi", written(tmp_path / "a", "1\n2\n"))["link"][0]
    assert set(link) >= {"forward", "backward"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5\n4\n", "a:2: found '4'; expected no time before 5, the one of the line above"),
        ("5\n\n6.5\n", "a:3: found '6.5'; expected a time in whole milliseconds such as 120"),
        ("-5\n", "a:1: found '-5'; expected a time in whole milliseconds such as 120"),
        ("²\n", "a:1: found '²'; expected a time in whole milliseconds such as 120"),
        ("9" * 5000, "expected a time in whole milliseconds such as 120, at most 1000000000"),
        ("0\n0\n", "a: found no time above zero; expected lines of milliseconds"),
        ("", "a: found no line; expected lines of milliseconds"),
    ],
)
def test_invalid_mahimahi_traces(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(Error) as error:
        read_path("mahimahi", [written(tmp_path / "a", text)])
    assert message in str(error.value)


def test_invalid_files_and_values(tmp_path: Path) -> None:
    trace = written(tmp_path / "a", "1\n2\n")
    path = read_path("mahimahi", [trace])
    out = tmp_path / "path.toml"
    for stated, message in [
        (Stated(delay="20 mss"), f'{out}:10: link.path.delay: found "20 mss"'),
        (Stated(rate="1 Mbit/s"), "--rate: the measurement has the rate itself; expected none"),
    ]:
        with pytest.raises(Error) as error:
            write_scenario(path, out, stated)
        assert message in str(error.value)
        assert not out.exists()
    with pytest.raises(Error, match=r"--out .*path: expected the name of a scenario"):
        write_scenario(path, tmp_path / "path")
    with pytest.raises(Error, match="mahimahi: found 3 files; expected UP DOWN or TRACE"):
        read_path("mahimahi", [trace] * 3)
    with pytest.raises(Error, match="FORMAT: found mahimai; expected mahimahi"):
        read_path("mahimai", [trace])
    (tmp_path / "b").write_bytes(b"1\n\xff\n")
    with pytest.raises(Error, match="b:2: found the byte 0xff; expected UTF-8 text"):
        read_path("mahimahi", [tmp_path / "b"])
