"""What files hold and are called does not act on the terminal, nor on a notebook."""

import gzip
import json
from pathlib import Path

import pytest

from program import run_here
from rtolab.diagnosis import diagnose
from rtolab.text import visible

LOG = Path(__file__).parents[1] / "qlogs" / "quic-go-reordering.server.sqlog.gz"
HOSTILE = "\x1b]0;owned\x07\x1b[31m\u009b2J\u202e[/red][link=http://evil.example]<script>\r"
"""A title, colours, a cleared screen, a reversed text, Rich's markup, HTML, the line's begin."""
ACTING = ("\x1b", "\x07", "\u009b", "\u202e", "\r")


def is_harmless(text: str) -> bool:
    """Does the text hold none of the characters that act on a terminal?"""
    return not any(letter in text for letter in ACTING)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A QUIC log whose implementation has a hostile name."""
    header, *events = gzip.decompress(LOG.read_bytes()).splitlines(keepends=True)
    begin = header.index(b"{")
    document = json.loads(header[begin:])
    document["trace"]["vantage_point"]["name"] = document["qlog_version"] = HOSTILE
    path = tmp_path_factory.mktemp("logs") / "hostile.sqlog"
    path.write_bytes(b"".join([header[:begin], json.dumps(document).encode(), b"\n", *events]))
    return path


def test_strings_of_a_capture_do_not_act_on_the_terminal(log: Path) -> None:
    done = run_here("diagnose", log)
    assert (done.returncode, done.stderr) == (0, "")
    assert is_harmless(done.stdout)
    assert "[/red]" in "".join(done.stdout.split()), "markup is printed as it is"
    assert "␛" in done.stdout
    assert is_harmless(run_here("diagnose", log, "--json").stdout)


def test_strings_of_a_capture_are_no_elements_of_a_notebook_or_a_page(
    log: Path, tmp_path: Path
) -> None:
    found = diagnose(log)._repr_html_()
    assert "&lt;script&gt;" in found
    assert "<script>" not in found
    page = tmp_path / "page.html"
    assert run_here("diagnose", log, "--html", page).returncode == 0
    written = page.read_text(encoding="utf-8")
    assert "&lt;script&gt;" in written
    assert "[link=http://evil.example]<script>" not in written


@pytest.mark.parametrize("command", ["diagnose", "run", "tune", "plot"])
def test_names_of_files_do_not_act_on_the_terminal(command: str, tmp_path: Path) -> None:
    missing = tmp_path / f"{HOSTILE.replace('/', '')}.toml"
    output: list[str | Path] = ["--out", tmp_path / "out.png"] if command == "plot" else []
    done = run_here(command, missing, *output)
    assert done.returncode == 2
    assert is_harmless(done.stderr)
    assert "owned" in done.stderr


def test_names_of_written_files_do_not_act_on_the_terminal(tmp_path: Path) -> None:
    page = tmp_path / "[bold]\x1b[31m.html"
    done = run_here("diagnose", LOG, "--html", page)
    assert done.returncode == 0
    assert page.exists()
    assert is_harmless(done.stdout)
    assert "[bold]␛[31m.html" in "".join(done.stdout.split())


@pytest.mark.parametrize(
    "text",
    [
        'title = "a"\nduration = "\\u001b[31m"\n',
        '"\\u001b[31m" = 1\n',
        'title = "a"\n[[link]]\nname = "\\u001b\\u009b"\n',
        "title = 'a'\x1b[31m\n",
    ],
)
def test_texts_of_a_scenario_do_not_act_on_the_terminal(text: str, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(text, encoding="utf-8")
    done = run_here("run", scenario)
    assert done.returncode == 2
    assert "scenario.toml" in done.stderr
    assert is_harmless(done.stderr)


def test_every_control_character_becomes_visible() -> None:
    codes = [*range(0x20), *range(0x7F, 0xA0), 0x202E, 0x2066]
    shown = visible("".join(map(chr, codes)))
    assert len(shown) == len(codes)
    assert {letter for letter in shown if not letter.isprintable()} == {"\t", "\n"}
    assert visible("Straße →\n\t日本") == "Straße →\n\t日本"
