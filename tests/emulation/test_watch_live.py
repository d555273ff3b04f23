"""`rtolab watch` beside real kernels. Needs Linux, root and /dev/net/tun."""

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

import program
from prerequisites import lack, require_tool
from program import PROGRAM, execute
from rtolab import wireshark

HOLD = [
    *("--set", "emulation.begin=first-packet", "--set", "link.radio.rate=100 Mbit/s"),
    *("--set", "link.radio.queue=4 MB", "--set", "receiver.buffer=1 MB"),
    *("--set", "tcp.window_scale=5", "--set", "link.radio.delay=10 ms"),
]
"""The link holds everything from 1 s until 3 s, and loses nothing: each timeout is spurious."""
SERVER = """
import socket
with socket.create_server(("10.83.0.2", 80)) as server, server.accept()[0] as connection:
    while connection.recv(1 << 20):
        pass
"""
CLIENT = """
import socket, time
while True:
    try:
        connection = socket.create_connection(("10.83.0.2", 80))
        break
    except OSError:
        time.sleep(0.05)
until, sent = time.monotonic() + 5, 0
while time.monotonic() < until:
    sent += connection.send(bytes(100_000))
print("sent", sent)
"""
SCRAPE = """
from urllib.request import urlopen
print(urlopen("http://127.0.0.1:9435/metrics").read().decode(), end="")
"""
BESIDE = """
ip netns exec $RTOLAB_PEER_NETNS "$PYTHON" -c "$SERVER" &
ip netns exec $near "$PYTHON" -m rtolab.cli watch $DEVICE --json --metrics 127.0.0.1:9435 \\
    > lines 2> err &
watch=$!
until grep -q " 0003 " /proc/$watch/net/packet; do sleep 0.05; done
ip netns exec $SENDER "$PYTHON" -c "$CLIENT"
for again in $(seq 20); do
    sleep 1
    ip netns exec $near "$PYTHON" -c "$SCRAPE" > metrics
    ! grep -q 'class="spurious"' metrics || break
done
kill $watch
wait $watch || [ $? = 143 ]
"""


def ip(*arguments: str) -> None:
    execute("ip", *arguments, check=True)


@contextmanager
def namespace(name: str) -> Iterator[str]:
    """A network namespace with its loopback device up."""
    ip("netns", "add", name)
    try:
        ip("-n", name, "link", "set", "lo", "up")
        yield name
    finally:
        ip("netns", "delete", name)


@dataclass
class Beside:
    """What a watch said beside a transfer, and the bytes that the client sent."""

    lines: list[Any]
    summary: dict[str, Any]
    metrics: str
    sent: int


def watched(folder: Path, *settings: str, before: str, device: str = "link0") -> Beside:
    """A watch near the sender of a transfer over a link that holds everything for 2 s."""
    script = f"cd {folder}\nnear=$(ip netns identify)\n{before}\n{BESIDE}"
    environment = program.environment() | {
        "PYTHON": sys.executable,
        "SERVER": SERVER,
        "CLIENT": CLIENT,
        "SCRAPE": SCRAPE,
        "DEVICE": device,
    }
    command = [*PROGRAM, "emulate", "hold", *HOLD, *settings, "--", "sh", "-ec", script]
    ran = execute(*command, env=environment, timeout=60)
    assert "Traceback" not in ran.stderr, ran.stderr
    assert (folder / "err").read_text() == ""
    *lines, summary = map(json.loads, (folder / "lines").read_text().splitlines())
    (sent,) = re.findall(r"^sent (\d+)$", ran.stdout, re.MULTILINE)
    return Beside(lines, summary, (folder / "metrics").read_text(), int(sent))


def check_spurious(beside: Beside) -> None:
    """All timeouts are spurious, as the link wants it."""
    timeouts = [line for line in beside.lines if line["row"] == "timeout"]
    assert timeouts
    assert {line["class"] for line in timeouts} == {"spurious"}
    assert {line["server"] for line in timeouts} == {"10.83.0.2:80"}
    assert beside.summary["timeouts"] == {"spurious": len(timeouts)}
    assert beside.summary["kernel_drops"] == 0


@pytest.mark.slow
@pytest.mark.usefixtures("hosts")
def test_timeouts_during_a_hold_are_spurious(tmp_path: Path) -> None:
    beside = watched(tmp_path, before="SENDER=$near")
    check_spurious(beside)
    (spurious,) = beside.summary["timeouts"].values()
    assert beside.summary["kernel"]["TCPTimeouts"] == spurious
    samples = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(beside.metrics)
        for sample in family.samples
    }
    assert samples["rtolab_watch_timeouts_total", "data", "link0", "spurious"] == spurious
    assert samples["rtolab_kernel_tcp_total", "TCPTimeouts"] == spurious


SUPER_SEGMENTS = """
ip -n $near link add inner type veth peer name outer netns $SENDER
ip -n $near link set inner address 02:00:00:00:00:01 up
ip -n $near route replace 10.83.0.1/32 dev inner
ip -n $near neighbour add 10.83.0.1 lladdr 02:00:00:00:00:02 dev inner
ip -n $SENDER link set outer address 02:00:00:00:00:02 up
ip -n $SENDER address add 10.83.0.1/32 dev outer
ip -n $SENDER route add default dev outer
ip -n $SENDER neighbour add 10.83.0.2 lladdr 02:00:00:00:00:01 dev outer
"""


@pytest.mark.slow
@pytest.mark.usefixtures("hosts")
def test_super_segments_get_the_verdicts_of_the_segments_on_the_wire(tmp_path: Path) -> None:
    """A veth device leaves segmentation to the next one, as network cards do (TSO)."""
    with namespace(f"rtowatch-{os.getpid()}") as sender:
        before = f"SENDER={sender}\n{SUPER_SEGMENTS}"
        tun = ("--set", "kernel.host.near.tun=true", "--set", "kernel.mtu=1500 B")
        beside = watched(tmp_path, *tun, before=before, device="inner")
    check_spurious(beside)
    assert beside.summary["packets"] < beside.sent / 1448


WIRESHARK = """
near=$(ip netns identify)
export WIRESHARK_CONFIG_DIR=$PWD HOME=$PWD
ip netns exec $RTOLAB_PEER_NETNS "$PYTHON" -c "$SERVER" &
ip netns exec $near tshark -q -i rtolab-link0 -o extcap.rtolab_link0.delay:8 -w live.pcapng 2> err &
tshark=$!
until [ "$(ip netns exec $near grep -c " 0003 " /proc/net/packet)" -ge 2 ]; do sleep 0.1; done
ip netns exec $near "$PYTHON" -c "$CLIENT"
sleep 9
kill $tshark
wait $tshark || true
"""


@pytest.mark.slow
@pytest.mark.usefixtures("hosts")
def test_wireshark_shows_the_verdicts_on_packets_that_pass(tmp_path: Path) -> None:
    tshark = require_tool("tshark", "tshark")
    wireshark.install(tmp_path)
    environment = program.environment() | {
        "PYTHON": sys.executable,
        "SERVER": SERVER,
        "CLIENT": CLIENT,
    }
    script = f"cd {tmp_path}\n{WIRESHARK}"
    command = [*PROGRAM, "emulate", "hold", *HOLD, "--", "sh", "-ec", script]
    ran = execute(*command, env=environment, timeout=60)
    assert "Traceback" not in ran.stderr, ran.stderr
    own = environment | {"WIRESHARK_CONFIG_DIR": str(tmp_path), "HOME": str(tmp_path)}
    fields = [
        word
        for name in ("rtolab.timeout", "rtolab.verdict", "rtolab.evidence.frame", "frame.number")
        for word in ("-e", name)
    ]
    script_of = ("-X", f"lua_script:{wireshark.PLUGIN}")
    read = (tshark, "-n", *script_of, "-r", tmp_path / "live.pcapng", "-Y", "rtolab.timeout")
    shown = execute(*read, "-T", "fields", *fields, env=own).stdout.splitlines()
    assert shown, (tmp_path / "err").read_text()
    for line in shown:
        timeout, verdict, evidence, frame = line.split("\t")
        assert (timeout, verdict) == ("spurious", "unneeded")
        assert all(int(number) > int(frame) for number in evidence.split(","))


SOCKETS = """
near=$(ip netns identify)
ip netns exec $RTOLAB_PEER_NETNS "$PYTHON" -c "$SERVER" &
ip netns exec $near sh -c 'mount -t tracefs nodev /sys/kernel/tracing
    exec "$PYTHON" -m rtolab.cli watch any --without-packets --json' > lines 2> err &
watch=$!
instance=/sys/kernel/tracing/instances/rtolab-$watch
until ls /proc/$watch/fd -l 2> /dev/null | grep -q trace_pipe; do sleep 0.1; done
ip netns exec $near "$PYTHON" -c "$CLIENT"
sleep 2
kill $watch
wait $watch || [ $? = 143 ]
mount -t tracefs nodev /sys/kernel/tracing
[ -e $instance ] || echo removed > instance
"""


@pytest.mark.slow
@pytest.mark.usefixtures("hosts")
def test_the_kernel_reports_spurious_timeouts_without_packets(tmp_path: Path) -> None:
    if "tracefs" not in Path("/proc/filesystems").read_text():
        lack("needs tracefs, which this kernel lacks", ci_has_it=False)
    environment = program.environment() | {
        "PYTHON": sys.executable,
        "SERVER": SERVER,
        "CLIENT": CLIENT,
    }
    script = f"cd {tmp_path}\n{SOCKETS}"
    command = [*PROGRAM, "emulate", "hold", *HOLD, "--", "sh", "-ec", script]
    ran = execute(*command, env=environment, timeout=60)
    # The exit status also says whether this machine kept up with the link, which is no matter here.
    assert [(tmp_path / name).read_text() for name in ("err", "instance")] == ["", "removed\n"], (
        ran.stderr
    )
    *lines, summary = map(json.loads, (tmp_path / "lines").read_text().splitlines())
    assert {line["server"] for line in lines} == {"10.83.0.2:80"}
    timeouts = [line for line in lines if line["row"] == "timeout"]
    assert summary["timeouts"] == {"spurious": len(timeouts)}
    assert len(timeouts) == summary["kernel"]["TCPTimeouts"]
    assert summary["spurious_first_timeouts"] == summary["kernel"]["TCPLossUndo"]
    # The receiver reports each copy.
    unneeded = sum(line.get("verdict") == "unneeded" for line in lines)
    assert unneeded == summary["kernel"]["TCPDSACKRecv"] > 0


@pytest.mark.usefixtures("hosts")
def test_an_unknown_interface_is_named_with_the_nearest_one() -> None:
    ran = program.run("watch", "lo0")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert 'interface: found "lo0"; expected lo' in " ".join(ran.stderr.split())


@pytest.mark.usefixtures("hosts")
def test_without_the_capability_the_message_says_how_to_get_it() -> None:
    tool = require_tool("setpriv", "util-linux")
    ran = execute(tool, "--bounding-set=-net_raw", *PROGRAM, "watch", "lo")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "CAP_NET_RAW" in ran.stderr


@pytest.mark.usefixtures("hosts")
def test_when_the_interface_disappears_the_summary_is_still_printed() -> None:
    with namespace(f"rtowatch-{os.getpid()}") as name:
        ip("-n", name, "link", "add", "one", "type", "veth", "peer", "name", "two")
        ip("-n", name, "link", "set", "one", "up")
        within = ("ip", "netns", "exec", name)
        watching = program.start("watch", "one", "--json", within=within)
        sockets = Path(f"/proc/{watching.pid}/net/packet")
        program.wait_for(lambda: " 0003 " in sockets.read_text(), watching)
        ip("-n", name, "link", "delete", "one")
        out, err = watching.communicate(timeout=60)
    assert watching.returncode == 2
    assert "interface `one` went down or disappeared" in err
    assert json.loads(out)["row"] == "summary"
