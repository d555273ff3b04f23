"""A path that rtolab's own link makes in real time, measured, and replayed in the simulator."""

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rtolab
from guests import require_kernel

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "guide"))

import measured_path

LINK = """
title = "A path to measure"
duration = "60 s"

[[link]]
name = "path"
between = ["client", "server"]
delay = "20 ms"
queue = "100 packets"
jitter = { gamma = { mean = "8 ms", deviation = "6 ms" } }
jitter_correlation = "200 ms"

[link.forward]
rate = "10 Mbit/s"
loss = 0.03

[link.backward]
rate = "4 Mbit/s"

[link.backward.stalls]
scripted = [{ at = "6 s", for = "300 ms" }]

[[flow]]
name = "unused"
from = "client"
to = "server"
"""
DATAGRAMS = """
[[flow]]
name = "{0}"
from = "{0}"
to = "{1}"
datagrams = {{ rate = "51.2 kbit/s", packet = "128 B" }}
"""
PROBES_MS = 20
"""The time between single probes."""


def measured(folder: Path, *options: str) -> tuple[dict[str, Any], pl.DataFrame]:
    """The link of the scenario that a measurement over `LINK` wrote, and what the link did."""
    link, out = folder / "link.toml", folder / "path.toml"
    link.write_text(LINK)
    rtolab_ = [sys.executable, "-m", "rtolab.cli"]
    server = shlex.join([*rtolab_, "record", "--serve", "--once", "--token", "t"])
    client = [*rtolab_, "record", "{peer}", "--token", "t", "--out", str(out), *options]
    emulate = [*rtolab_, "emulate", str(link), "--out", str(folder / "tables"), "--json"]
    ran = subprocess.run(
        [*emulate, "--server", server, "--", *client], capture_output=True, text=True, check=False
    )
    assert out.exists(), ran.stderr
    (found,) = tomllib.loads(out.read_text())["link"]
    return found, pl.read_parquet(folder / "tables" / "segments.parquet")


def delays(segments: pl.DataFrame) -> pl.Series:
    """The delays of single probes, and of datagrams of their size, in ms."""
    sent = segments.filter(event="sent", fate="delivered", bytes=128)
    return sent.select((pl.col("fate_at_s") - pl.col("at_s")) * 1000).to_series()


@pytest.mark.usefixtures("hosts")
def test_the_replay_of_a_measured_path_has_its_delays(tmp_path: Path) -> None:
    found, real = measured(tmp_path, "--duration", "15", "--train", "0")
    assert 0.005 < found["backward"]["loss"] < 0.06
    assert "loss" not in found["forward"]
    replay = tmp_path / "replay.toml"
    text = (tmp_path / "path.toml").read_text().split("[[flow]]")[0]
    flows = [DATAGRAMS.format(*ends) for ends in (("client", "server"), ("server", "client"))]
    replay.write_text(text + "".join(flows))
    replayed = rtolab.run(replay).segments
    for flow, place in (("client", "sender"), ("server", "receiver")):
        expected, simulated = delays(real.filter(place=place)), delays(replayed.filter(flow=flow))
        for quantile in (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95):
            one, other = (of.quantile(quantile, "linear") for of in (simulated, expected))
            assert one == pytest.approx(other, rel=0.05), (flow, quantile)
        # The longest delay of the stall depends on the probe that met its beginning.
        assert simulated.max() == pytest.approx(expected.max(), abs=PROBES_MS)


@pytest.mark.usefixtures("hosts")
def test_trains_show_the_rates(tmp_path: Path) -> None:
    found, _ = measured(tmp_path, "--duration", "10")
    rates = {key: int(found[key]["rate"].split()[0]) for key in ("forward", "backward")}
    assert rates == pytest.approx({"forward": 4e6, "backward": 10e6}, rel=0.15)


def test_a_path_measured_in_guests_is_replayed(tmp_path: Path) -> None:
    """The data of the guide's figure."""
    real, scenario = measured_path.measured(tmp_path, require_kernel().name)
    rows = [
        measured_path.delays(real, "receiver", "real"),
        measured_path.delays(measured_path.replayed(scenario), "sender", "replay"),
    ]
    expected, simulated = (one["delay_ms"] for one in rows)
    for quantile in (0.05, 0.25, 0.5, 0.75, 0.95):
        one, other = (of.quantile(quantile, "linear") for of in (simulated, expected))
        assert one == pytest.approx(other, rel=0.05), quantile
    longest = max(expected.to_list())
    assert longest > 400
    assert max(simulated.to_list()) == pytest.approx(longest, abs=PROBES_MS)
