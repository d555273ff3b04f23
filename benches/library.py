"""Measures the engine as a library, beside smoltcp and lwIP; `benches/run --library` starts this.

Two ends exchange segments in memory; `benches/library/` has the programs. They run in alternation,
each alone.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from statistics import median
from typing import Any

from programs import ROOT, output

FOLDER = ROOT / "benches" / "library"
TARGET = ROOT / "target" / "library"


def programs() -> list[str]:
    """The built programs. Without lwIP the user learns what to install."""
    manifest = ("--manifest-path", str(FOLDER / "Cargo.toml"), "--target-dir", str(TARGET))
    output(["cargo", "build", "--release", "--quiet", *manifest])
    built = [str(TARGET / "release" / "library")]
    if (
        not (shutil.which("cc") and shutil.which("pkg-config"))
        or subprocess.run(["pkg-config", "--exists", "lwip"], check=False).returncode
    ):
        sys.stderr.write("no lwIP: apt-get install liblwip-dev pkg-config\n")
        return built
    flags = output(["pkg-config", "--cflags", "--libs", "lwip"]).split()
    lwip = str(TARGET / "lwip")
    output(["cc", "-O3", str(FOLDER / "lwip.c"), "-o", lwip, *flags])
    return [*built, lwip]


def measure(rounds: int) -> list[dict[str, Any]]:
    """The median time and the state of each library."""
    built = programs()
    found: dict[str, list[dict[str, Any]]] = {}
    for _ in range(rounds):
        for program in built:
            for line in output([program]).splitlines():
                figures = json.loads(line)
                found.setdefault(figures["library"], []).append(figures)
    return [
        {**each[0], "ns_a_segment": median(figures["ns_a_segment"] for figures in each)}
        for each in found.values()
    ]


def report(options: argparse.Namespace) -> int:
    """Measure and print."""
    libraries = measure(options.rounds)
    if options.json:
        heading = {"cores": os.cpu_count(), "rounds": options.rounds}
        sys.stdout.write(f"{json.dumps({**heading, 'libraries': libraries}, indent=2)}\n")
        return 0
    sys.stdout.write(f"{'':<26}{'ns a segment':>14}{'segments/s':>14}{'bytes an end':>14}\n")
    for library in libraries:
        time = library["ns_a_segment"]
        row = f"{time:>14.0f}{1e9 / time:>14,.0f}{library['state_bytes']:>14,}"
        sys.stdout.write(f"{library['library']:<26}{row}\n")
    return 0
