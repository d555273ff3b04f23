"""Files of the explorer: captures, downloads, results."""

import io
import json
import shlex
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from starlette.testclient import TestClient

import program
from explorer_client import BINARY, CAPTURE, HOLD, HOST, error_of, unpack
from rtolab import run, sweep
from rtolab.campaign import Campaign, Settings
from rtolab.experiments import find
from rtolab.plot.summaries import Quantity, cells, choose
from rtolab.result import TABLES
from rtolab.serve import browse
from rtolab.serve.app import Explorer
from rtolab.serve.limits import Limits
from sweep_runs import CUT


def test_a_run_can_be_saved_as_tables_and_captures(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requested = HOLD | {"set": {"link.radio.delay": "50 ms"}}
    packed = client.post("/api/download/everything", json=requested)
    archive = zipfile.ZipFile(io.BytesIO(packed.content))
    names = set(archive.namelist())
    assert {"report.html", "connections.parquet", "scenario.toml", "command.txt"} <= names
    assert {"0-newreno-sender.pcapng", "1-newreno+frto-receiver.pcapng"} <= names
    archive.extractall(tmp_path)
    # The archive has the command that repeats the run.
    command = shlex.split((tmp_path / "command.txt").read_text(encoding="utf-8"))
    assert command[:5] == ["rtolab", "run", "scenario.toml", "--seed", "1"]
    monkeypatch.chdir(tmp_path)
    assert program.call(monkeypatch, *command[1:]) == 0
    for name in TABLES:
        kept = pl.read_parquet(f"{name}.parquet")
        assert kept.equals(pl.read_parquet(f"out/{name}.parquet")), name
        assert kept.height > 0 or name not in {"connections", "timeouts", "verdicts", "segments"}
    other = run("hold", sender=["newreno", "newreno+frto"]).connections["elapsed_s"]
    assert pl.read_parquet("connections.parquet")["elapsed_s"].to_list() != other.to_list()


@pytest.mark.parametrize("kind", ["parquet", "pcapng"])
def test_parts_of_a_run_can_be_saved(client: TestClient, kind: str) -> None:
    packed = client.post(f"/api/download/{kind}", json=HOLD)
    names = zipfile.ZipFile(io.BytesIO(packed.content)).namelist()
    assert any(name.endswith(kind) for name in names)
    assert client.post("/api/download/exe", json=HOLD).status_code == 400


def test_a_capture_is_diagnosed_and_deleted() -> None:
    explorer = Explorer(Limits())
    with TestClient(explorer.app(), base_url=HOST) as own:
        response = own.post(
            "/api/capture?name=my.pcapng", content=CAPTURE.read_bytes(), headers=BINARY
        )
        assert response.is_success
        assert not list(explorer.folder.glob("capture-*"))
        assert not list(explorer.folder.glob("*/capture-*"))
    assert not explorer.folder.exists()
    found = unpack(response.content)
    assert found["name"] == "my.pcapng"
    picture = found["pictures"][0]
    sender = picture["senders"][0]
    unneeded = sender["packets"]["kind"] == sender["names"]["kind"].index("unneeded")
    assert unneeded.sum() >= 45
    assert picture["disturbances"][0]["to_s"] == pytest.approx(8.2, abs=0.01)
    assert sender["timeouts"][0]["truth"] == "spurious"
    assert "retransmission timer expired" in picture["episodes"][0]["description"]


def test_a_file_that_is_no_capture_is_refused(client: TestClient) -> None:
    response = client.post("/api/capture?name=a%0Ab.txt", content=b"hello", headers=BINARY)
    assert response.status_code == 422
    assert error_of(response)["message"].startswith("ab.txt: neither pcap nor pcapng")
    assert b"rtolab-serve" not in response.content


def test_a_capture_has_a_size_and_a_type(strict: TestClient) -> None:
    response = strict.post("/api/capture", content=bytes(20_000), headers=BINARY)
    assert response.status_code == 413
    assert "the most that is taken" in error_of(response)["message"]
    assert strict.post("/api/capture", json={}).status_code == 400


SWEEP = """\
scenario = "hold"
senders = ["newreno", "newreno+frto"]
runs = 3

[grid]
link.radio.delay = ["50 ms", "100 ms"]
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    out = tmp_path_factory.mktemp("results")
    (out / "delays.toml").write_text(SWEEP, encoding="utf-8")
    sweep.run(sweep.load(out / "delays.toml"), out / "delays", sweep.Threads(1))
    campaign = Campaign(out / "report", Settings(quick=True))
    campaign.run(find(["frto2002/fig1"])[0])
    with TestClient(Explorer(Limits(), [out]).app(), base_url=HOST) as client:
        yield client


def test_a_sweep_is_browsed(results: TestClient) -> None:
    titles = results.get("/api/index").json()["results"]
    number = next(one["number"] for one in titles if one["kind"] == "sweep")
    found = results.get(f"/api/results/{number}?measure=unneeded").json()
    assert found["grid"] == ["link.radio.delay"]
    assert len(found["cells"]) == 4
    assert {(cell["runs"], cell["finished"], cell["values"]) for cell in found["cells"]} == {
        (3, 3, 3)
    }
    frto = [cell["median"] for cell in found["cells"] if cell["sender"] == "newreno+frto"]
    assert frto == [1, 1]
    wrong = results.get(f"/api/results/{number}?measure=nonsense")
    assert "no measure 'nonsense'" in error_of(wrong)["message"]


def test_a_browsed_sweep_has_the_values_and_the_finished_runs_of_its_figure(tmp_path: Path) -> None:
    (tmp_path / "cut.toml").write_text(CUT)
    (tmp_path / "sweep.toml").write_text(
        'scenario = "cut.toml"\nsenders = ["newreno"]\nruns = 30\n'
    )
    sweep.run(sweep.load(tmp_path / "sweep.toml"), tmp_path / "out", sweep.Threads(1))
    [cell] = json.loads(browse.sweep({"folder": tmp_path / "out", "measure": "elapsed_s"}))["cells"]
    table = sweep.read(tmp_path / "out").collect()
    choice = choose(table, "elapsed_s", None, ("sender",), over=False)
    [drawn] = cells(table, choice, Quantity.of(table, "elapsed_s"))
    assert drawn.summary is not None
    assert (cell["finished"], cell["runs"]) == (drawn.finished, drawn.runs)
    assert cell["values"] == len(drawn.values)
    assert 0 < cell["finished"] < cell["runs"] == 30
    assert [cell[key] for key in ("median", "low", "high")] == pytest.approx(
        [drawn.summary.median, drawn.summary.q1, drawn.summary.q3]
    )


def test_a_report_is_browsed_by_numbers_alone(results: TestClient) -> None:
    titles = results.get("/api/index").json()["results"]
    number = next(one["number"] for one in titles if one["kind"] == "experiment")
    found = results.get(f"/api/results/{number}").json()
    assert found["experiment"] == "frto2002/fig1"
    file = found["files"][0]
    kept = results.get(f"/api/results/{number}/{file['number']}")
    assert kept.is_success
    assert kept.headers["content-disposition"].startswith("attachment")
    for path in (f"{number}/999", "999", "999/0"):
        assert results.get(f"/api/results/{path}").status_code == 404
    assert results.get("/api/results/..%2f..%2fetc/passwd").status_code == 404


def test_vanished_results_are_reported_as_missing(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path / "report", Settings(quick=True))
    campaign.run(find(["frto2002/fig1"])[0])
    with TestClient(Explorer(Limits(), [tmp_path]).app(), base_url=HOST) as client:
        name = client.get("/api/results/0").json()["files"][0]["name"]
        (folder,) = {path.parent for path in tmp_path.rglob(name)}
        (folder / name).unlink()
        missed = client.get("/api/results/0/0")
        assert (missed.status_code, error_of(missed)["message"]) == (
            404,
            f"{name} is not there any more",
        )
        assert client.get("/api/results/0").is_success
        shutil.rmtree(folder)
        missed = client.get("/api/results/0")
        assert missed.status_code == 404
        assert "the folder of frto2002/fig1 is not there any more" in error_of(missed)["message"]
