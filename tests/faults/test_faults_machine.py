"""A machine that lacks descriptors, address space, threads or UTF-8: each gives a clear error."""

import resource
from pathlib import Path

import pytest

import program
from explorer_client import HOLD, server
from prerequisites import require_root, require_tool
from program import environment, shell
from rtolab import _rtolab
from test_faults import (
    PIPED,
    capture,
    end_of,
    error_message,
    limited,
    of_run,
    placed,
    rtolab,
    unfinished,
)
from test_faults_serve import answer_of

MEGABYTE = 1 << 20
EVERY = [(name, 6, 400) for name in PIPED]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "descriptors", "addresses"), [*EVERY, ("run", 5, 150), ("serve", 7, 750)]
)
def test_no_command_starts_without_descriptors_or_memory(
    tmp_path: Path, command: str, descriptors: int, addresses: int
) -> None:
    """Otherwise a library would end it or hang, as polars does without address space."""
    arguments = placed(PIPED[command], tmp_path)
    for kind, most, words in (
        (resource.RLIMIT_NOFILE, descriptors, "too many open files"),
        (resource.RLIMIT_AS, addresses * MEGABYTE, "out of memory"),
    ):
        reported = error_message(rtolab(*arguments, preexec_fn=limited(kind, most), cwd=tmp_path))
        assert reported.count("\n") == 1
        assert words in reported


def test_figures_are_refused_if_their_engine_would_end_the_process(tmp_path: Path) -> None:
    ended = rtolab(*of_run(tmp_path), preexec_fn=limited(resource.RLIMIT_AS, 8000 * MEGABYTE))
    reported = error_message(ended)
    assert "figures: out of memory" in reported
    assert (tmp_path / "out" / "connections.parquet").exists()
    assert not unfinished(tmp_path)
    assert not list(tmp_path.rglob("*.svg"))


@pytest.mark.slow
@pytest.mark.parametrize("most", [8, 10, 12, 14])
def test_without_descriptors_no_page_is_started(tmp_path: Path, most: int) -> None:
    page = tmp_path / "page.html"
    limit = limited(resource.RLIMIT_NOFILE, most)
    ended = rtolab("diagnose", capture(), "--html", page, preexec_fn=limit)
    assert "too many open files" in error_message(ended)
    assert not list(tmp_path.iterdir())


@pytest.mark.root
@pytest.mark.parametrize("most", [1, 3, 6, 12])
def test_no_command_starts_without_threads(tmp_path: Path, most: int) -> None:
    """As a user without other processes, because no limit binds root."""
    require_root()
    require_tool("setpriv", "util-linux")
    nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"]
    reads_all = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
    few = ["prlimit", f"--nproc={most}", "setpriv", *nobody, *reads_all]
    unwritten = environment() | {"PYTHONDONTWRITEBYTECODE": "1"}
    process = program.start("run", "hold", within=few, cwd=tmp_path, env=unwritten)
    reported = error_message(end_of(process))
    assert reported.count("\n") == 1
    assert "`ulimit -u`" in reported


def test_a_server_with_less_memory_than_its_processes_may_take_answers(tmp_path: Path) -> None:
    complaints = tmp_path / "complaints"
    limit = limited(resource.RLIMIT_AS, 1500 * MEGABYTE)
    with complaints.open("w") as err, server(preexec_fn=limit, stderr=err) as (address, _):
        assert answer_of(address, "api/run", HOLD) == (200, "")
    assert complaints.read_text() == ""


def test_no_file_may_grow(tmp_path: Path) -> None:
    """The limit acts like a full disk for the file that is written last, the lock of a sweep."""
    out = tmp_path / "out"
    arguments = placed([*PIPED["sweep"], "--out", str(out)], tmp_path)
    reported = error_message(rtolab(*arguments, preexec_fn=limited(resource.RLIMIT_FSIZE, 0)))
    assert "File too large" in reported
    assert str(out) in reported


# Streams.


@pytest.mark.slow
def test_figures_are_drawn_if_standard_input_is_closed(tmp_path: Path) -> None:
    """The engine of figures would mistake another file with descriptor 0 for standard input."""
    ran = shell(f"rtolab run frto2002-delays --out {tmp_path}/out <&-")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert list(tmp_path.rglob("*.svg"))


ASCII = environment() | {"PYTHONIOENCODING": "ascii"}


@pytest.mark.slow
def test_output_is_ascii_if_only_ascii_can_be_printed(tmp_path: Path) -> None:
    file = tmp_path / "größe.toml"
    text = _rtolab.schema()
    assert not text.isascii()
    file.write_text('title = "Größe"\n')
    for arguments in (["schema"], ["list"], ["run", str(file)], ["run", "hold", "-s", "größe"]):
        ran = program.run(*arguments, env=ASCII)
        assert "Traceback" not in ran.stderr
        assert ran.stdout.isascii()
        assert ran.stderr.isascii()
        assert ran.returncode == (2 if arguments[0] == "run" else 0)
