"""What is loaded before anything is done: little, so that it is done soon."""

import subprocess
import sys
import time

import pytest

SLOW = {"altair", "asyncio", "distributed", "numpy", "polars", "starlette", "vl_convert"}
"""Modules that take longer to load than all of what is loaded here."""
LOADED = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


@pytest.mark.parametrize(
    ("what", "also"),
    [
        ("import rtolab", {"rich", "typer"}),
        ("import rtolab.cli", set()),
        (("import sys; sys.argv = ['rtolab', '--help']\nimport rtolab.cli\n"
         "try: rtolab.cli.main()\nexcept SystemExit: pass"), set()),
    ],
    ids=["import", "command line", "help"],
)  # fmt: skip
def test_nothing_slow_is_loaded(what: str, also: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{what}\n{LOADED}"], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "rtolab" in loaded
    assert not loaded & (SLOW | also)


@pytest.mark.parametrize("arguments", [("-c", "import rtolab"), ("-m", "rtolab.cli", "--help")])
def test_it_is_there_at_once(arguments: tuple[str, ...]) -> None:
    # 40 and 200 ms of a processor; the bound is for a busy machine.
    times = []
    for _ in range(5):
        began = time.monotonic()
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        times.append(time.monotonic() - began)
    assert min(times) < 2.0
