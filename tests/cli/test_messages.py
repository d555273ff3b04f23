"""Error messages name what was found, where, and the nearest valid name."""

import lzma
import re
import shlex
from pathlib import Path

import pytest

import program

PHONE = """\
title = "phone"
duration = "20 s"

[[link]]
name = "radio"
between = ["a", "b"]
rate = "1 Mbit/s"
delay = "50 ms"

[[flow]]
name = "transfer"
from = "a"
to = "b"
bytes = "100 kB"
"""
SOON = """\
import rtolab


class Soon(rtolab.Detector):
    def on_ack(self, ack, episode):
        return None
"""
SAID = {
    "run phone.toml --sender linx": 'such as linux, .*did you mean "linux"',
    "run phone.toml --judge eifle": 'such as eifel, .*did you mean "eifel".*list detectors',
    "run phone.toml --prototype soon.py:Soon --judge Soon": 'such as soon, .*did you mean "soon"',
    "run own.toml --sender linux": "own.toml: flow: found the sender linux, but each flow has a "
    r"sender of its own \(transfer has rack\); expected no sender beside the scenario's, or",
    "sweep own-sweep.toml --out s": "found the sender linux, but each flow has a sender of its own",
    "run phone": "phone: found no such file or shipped scenario; expected phone.toml$",
    "run ./fone.toml": "fone.toml: found no such file or shipped scenario; expected phone.toml$",
    "run dumb-bell": 'expected one of .*such as dumbbell, .*did you mean "dumbbell"',
    "sweep phone.toml": 'phone.toml: found a scenario; .*: scenario = "phone.toml"',
    "run one-link.toml": r"4: link: found a table of .*; expected a list: \[\[link\]\]",
    "run phone.toml --out phone.toml": "phone.toml: found a file; expected a folder",
    "run both.toml": "requests: found requests beside bytes; expected only one of them",
    "run window.toml": "at most 65535 B, or beside it tcp.window_scale = 4$",
    "run flow-window.toml": "tcp.window_scale = 4 and receiver.window_scale = 4$",
    "diagnose x.pcap.xz": "begins with fd 37 7a 58, as an xz file does: .*`unxz`",
    "conform --only stall-7s": "expected one of .*such as stall-.*`rtolab conform --list` has all",
    "reproduce frto2002/tabel1": 'did you mean "frto2002/table1"',
}


@pytest.fixture
def mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a scenario, and with similar files that contain mistakes."""
    monkeypatch.chdir(tmp_path)
    # Without `tcp.window_scale` no window above 65,535 B can be advertised.
    files = {
        "own.toml": f'{PHONE}sender = "rack"\n',
        "own-sweep.toml": 'scenario = "own.toml"\nsenders = ["linux"]\nruns = 2\n',
        "phone.toml": PHONE,
        "one-link.toml": PHONE.replace("[[link]]", "[link]"),
        "both.toml": f"{PHONE}requests = {{ count = 3 }}\n",
        "window.toml": f'{PHONE}[receiver]\nbuffer = "1 MB"\n',
        "flow-window.toml": f'{PHONE}buffer = "1 MB"\n',
        "soon.py": SOON,
    }
    for name, text in files.items():
        Path(name).write_text(text)
    Path("x.pcap.xz").write_bytes(lzma.compress(b"a capture"))


@pytest.mark.usefixtures("mistakes")
@pytest.mark.parametrize(("command", "said"), SAID.items(), ids=SAID)
def test_a_mistake_is_reported_with_the_nearest_name(
    command: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.call(monkeypatch, *shlex.split(command)) == 2
    reported = " ".join(capsys.readouterr().err.split())
    assert re.search(said, reported), reported
    assert reported.partition("such as ")[2].count(", ") < 5, reported
