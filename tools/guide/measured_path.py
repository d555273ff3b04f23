"""The figure of docs/measure.md: a path while `rtolab record` measured it, and its replay.

    python tools/guide/measured_path.py     # writes docs/images/measured-path.svg

Both ends run in guests on the virtual clock, so it needs a kernel (`rtolab kernel build`), and two
runs are equal.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import vl_convert

import rtolab
from rtolab import _rtolab
from rtolab.emulation import EmulationResult
from rtolab.kernel import find
from rtolab.plot import styled
from rtolab.plot.trace_panels import GREY, VERMILION

IMAGE = Path(__file__).parents[2] / "docs" / "images" / "measured-path.svg"
SECONDS = 12
LINK = """
title = "A path to measure"
duration = "60 s"
emulation.begin = "first-packet"

[[link]]
name = "path"
between = ["client", "server"]
rate = "10 Mbit/s"
delay = "20 ms"
queue = "100 packets"
jitter = { gamma = { mean = "8 ms", deviation = "6 ms" } }
jitter_correlation = "200 ms"

[link.backward.stalls]
scripted = [{ at = "6 s", for = "400 ms" }]

[[flow]]
name = "unused"
from = "client"
to = "server"
"""
PROBES = """
[[flow]]
name = "probes"
from = "server"
to = "client"
datagrams = { rate = "51.2 kbit/s", packet = "128 B" }
"""
"""Datagrams like the probes of `rtolab record`: as long, and as often."""
PROBE = 128
"""The length of a probe with its headers, in bytes."""
FOLDER = "/tmp/measured"  # noqa: S108  (in the memory of a guest)
NAMES = ("the path, while it was measured", "its replay in the simulator")


def measured(folder: Path, kernel: str | None) -> tuple[pl.DataFrame, Path]:
    """The packets of a measurement in guests, and the scenario that it wrote."""
    link, kept, guest = folder / "link.toml", folder / "kept", find(kernel)
    link.write_text(LINK, encoding="utf-8")
    kept.mkdir()
    program = shlex.join([sys.executable, "-m", "rtolab.cli", "record"])
    options = f"--token t --duration {SECONDS} --train 0 --out {FOLDER}/path.toml"
    outcome, report = _rtolab.emulate_programs(
        link,
        guest=(guest.folder, guest.title),
        client=["sh", "-c", f"mkdir {FOLDER} && exec {program} {{server}} {options}"],
        server=f"mkdir {FOLDER} && exec {program} --serve --once --token t",
        keep=True,
        log=folder / "log",
        kept=(FOLDER, kept),
    )
    if report["returncode"]:
        raise SystemExit((folder / "log").read_text(encoding="utf-8"))
    for archive in kept.iterdir():
        with tarfile.open(archive) as packed:
            packed.extractall(kept, filter="data")
    [scenario] = kept.rglob("path.toml")
    return EmulationResult("link", outcome, [report]).segments, scenario


def replayed(scenario: Path) -> pl.DataFrame:
    """The packets of the scenario's replay, as many as were measured."""
    text = scenario.read_text(encoding="utf-8").split("[[flow]]")[0]
    scenario.write_text(text + PROBES, encoding="utf-8")
    return rtolab.run(scenario, trace=True).segments


def delays(segments: pl.DataFrame, place: str, name: str) -> pl.DataFrame:
    """When each probe left this end, in s, and its delay, in ms."""
    sent = segments.filter(event="sent", place=place, fate="delivered", bytes=PROBE)
    delay = (pl.col("fate_at_s") - pl.col("at_s")) * 1000
    since = pl.col("at_s") - pl.col("at_s").min()
    rows = sent.select(since, delay.alias("delay_ms"), pl.lit(name).alias("what"))
    return rows.filter(pl.col("at_s") < SECONDS)


def chart(rows: pl.DataFrame) -> Any:
    """One panel above the other, with the same axes."""
    panels = alt.Chart(rows).mark_circle(size=8, opacity=0.7, aria=False)
    colours = alt.Scale(domain=list(NAMES), range=[GREY, VERMILION])
    encoded = panels.encode(
        x=alt.X("at_s:Q", title="sent, s"),
        y=alt.Y("delay_ms:Q", title="one-way delay, ms"),
        color=alt.Color("what:N", scale=colours, legend=None),
    ).properties(width=560, height=140)
    title = alt.TitleParams(
        "A measured path, and its replay",
        subtitle="Delay towards the client of a packet every 20 ms; one stall of 0.4 s",
        anchor="start",
    )
    header = alt.Header(title=None, labelOrient="top", labelAnchor="start")
    return styled(encoded.facet(row=alt.Row("what:N", header=header, sort=list(NAMES))), title)


def main() -> None:
    """Measure, replay and draw."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--kernel")
    arguments.add_argument("--out", type=Path, default=IMAGE)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        real, scenario = measured(Path(folder), given.kernel)
        rows = pl.concat(
            [
                delays(real, "receiver", NAMES[0]),
                delays(replayed(scenario), "sender", NAMES[1]),
            ]
        )
    given.out.write_text(vl_convert.vegalite_to_svg(chart(rows).to_dict()), encoding="utf-8")


if __name__ == "__main__":
    main()
