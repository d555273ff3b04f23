"""packetdrill scripts of what a kernel sends and receives."""

from pathlib import Path
from types import SimpleNamespace

import pytest

import kernel_scripts
import rtolab
from guests import require_kernel
from kernel_differences import scenario
from kernel_scripts import SETTINGS, script
from rtolab import kernel

EFFECTIVE = {
    "congctl": "cubic",
    "tcp_timestamps": "1",
    "tcp_sack": "1",
    "tcp_dsack": "1",
    "tcp_ecn": "0",
    "tcp_frto": "2",
    "tcp_recovery": "1",
    "tcp_early_retrans": "3",
    "tcp_reordering": "3",
    "tcp_slow_start_after_idle": "0",
    "tcp_rmem": "4096 4194304 4194304",
    "tcp_wmem": "4096 4194304 33554432",
}
"""The settings of a run, as `emulate` reports them."""


def test_a_script_has_the_settings_the_calls_and_the_packets_of_a_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "path.toml"
    path.write_text(scenario(3))
    run = rtolab.run(path, sender="linux", trace=True)
    fake = SimpleNamespace(
        packetdrill=run.packetdrill,
        segments=run.segments,
        reports=[{"hosts": [{"effective": EFFECTIVE}]}],
    )
    monkeypatch.setattr(kernel_scripts, "emulate", lambda *_, **__: fake)
    guest = kernel.Kernel("fake", "6.12.0", 250, "a test", tmp_path)
    written = script(path, 3, guest, ["A path."])
    lines = written.text.splitlines()
    assert lines[0] == "// A path."
    assert "timer=wheel-250" in lines[2]
    settings = 'tcp_timestamps=1 tcp_early_retrans=3 "tcp_wmem=4096 4194304 33554432"'
    assert lines[4] == f"`./settings.sh {settings}"
    size = int(scenario(3).partition('bytes = "')[2].partition(" ")[0])
    calls = [line.partition(" ")[2] for line in lines if "(3, ..., " in line or "shutdown" in line]
    assert calls[1:] == [f"send(3, ..., {size}, MSG_MORE) = {size}", "shutdown(3, SHUT_WR) = 0"]
    assert f" ack {size + 2} " in lines[-1]
    assert "TS val 1000 ecr 0" in next(line for line in lines if " S 0:0" in line)
    assert written.packets == sum(" > " in line or " < " in line for line in lines)
    written.write(tmp_path / "scripts" / "3.pkt")
    assert (tmp_path / "scripts" / "settings.sh").read_text() == SETTINGS.read_text()


def test_a_guest_gives_the_same_script_each_time(tmp_path: Path) -> None:
    guest = require_kernel()
    (tmp_path / "path.toml").write_text(scenario(3))
    one, other = (script(tmp_path / "path.toml", 3, guest) for _ in range(2))
    assert one == other
    assert one.packets > 10
