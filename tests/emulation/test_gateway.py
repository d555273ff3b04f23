"""Real clients and servers on both sides of a gateway. Needs Linux, root and /dev/net/tun."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

import program
from gateway_fixtures import ENDS, V4, V6, far_client, ip, lab
from program import PROGRAM, execute


@pytest.mark.usefixtures("hosts")
def test_without_ipv6_there_is_a_gateway_for_ipv4() -> None:
    """As in a container: new devices have no IPv6."""
    client = f"rtogate-{os.getpid()}-v4"
    ip("netns", "add", client)
    try:
        disable = ("sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
        ip("netns", "exec", client, *disable)

        def gateway(*options: str) -> subprocess.CompletedProcess[str]:
            where = ("--netns", client, "--route", "10.20.0.0/16", "--duration", "0.2")
            command = [*PROGRAM, "gateway", *where, *options]
            return execute(*command)

        for options in ((), ("--route", "fd00:20::/64")):
            ran = gateway(*options)
            assert ran.returncode == 0, ran.stderr
            said = f"rtolab: gateway on rto0 in {client}, for IPv4 alone: IPv6 is disabled there"
            assert ran.stderr == f"{said}; Ctrl-C ends it\n"
        # An explicit address is honoured.
        ran = gateway("--address", "10.9.0.1/24")
        assert ran.stderr == f"rtolab: gateway on rto0 in {client}; Ctrl-C ends it\n"
        ran = gateway("--address", "10.9.0.1/24", "--address", "fd00:9::1/64")
        assert (ran.returncode, ran.stdout) == (2, "")
        assert "IPv6 is disabled on `rto0`" in ran.stderr
        assert "net.ipv6.conf.default.disable_ipv6=0" in ran.stderr
    finally:
        ip("netns", "delete", client)


@pytest.mark.parametrize("host", [V4, V6])
def test_bytes_and_half_closes_pass_in_both_directions(host: str) -> None:
    with lab("--sender", "sack+frto") as one:
        assert one.run("download", host, "1000000") == "equal"
        # The client's FIN arrives, and then the answer.
        assert one.run("upload", host, "1000000") == "equal"
        # The server's FIN arrives, and then the data that the client still sends.
        sent = one.run("late_upload", host, "300000")
        time.sleep(0.5)
        one.end()
    assert f"got {sent}" in one.reported
    counts = one.counts
    assert (counts["opened"], counts["established"], counts["closed"]) == (3, 3, 3)
    assert counts["bytes_down"] == 1_000_000 + 64
    assert counts["bytes_up"] == 9 + 1 + 1_000_000 + 1 + 300_000
    assert counts["interrupted"]
    assert counts["cut"] == counts["damaged"] == counts["undelivered"] == 0


@pytest.mark.parametrize("option", [[], ["--answer-at-once"]])
def test_refusals_and_resets_pass(option: list[str]) -> None:
    with lab(*option) as one:
        # The SYN waits for the server's answer, unless it is answered at once.
        error = "ConnectionResetError" if option else "ConnectionRefusedError"
        assert one.run("refused", V4) == error
        assert one.run("is_reset", V4) == "ConnectionResetError"
        one.run("resets", V4)
        time.sleep(0.5)
        one.end()
    assert "broken: Connection reset by peer" in one.reported
    counts = one.counts
    reported = ("refused_by_server", "reset_by_server", "reset_by_client", "closed")
    assert [counts[name] for name in reported] == [1, 1, 1, 0]


def test_a_slow_reader_holds_up_the_sender() -> None:
    limits = ("--send-buffer", "200000", "--buffer", "100000")
    with lab(*limits) as one:
        assert one.run("slow_reader", V4, "20000000") == "equal"
        # The server reads nothing: of 128 MB, only what kernels and gateway buffer is sent.
        assert int(one.run("pushes", V4)) < 40_000_000
        one.end()
    assert 100_000 <= one.counts["most_kept"] <= 300_000
    assert one.counts["bytes_down"] == 20_000_000


def test_a_connection_to_a_vanished_client_is_reset() -> None:
    with lab("--give-up", "2") as one:
        one.run("vanishing_reader", V4)
        time.sleep(4)
        one.end()
    assert one.counts["timed_out"] == 1


def test_an_idle_connection_is_reset() -> None:
    with lab("--idle", "1") as one:
        assert one.run("waits", V4) == "ConnectionResetError"
        one.end()
    assert one.counts["idle"] == 1


def test_many_connections_at_once() -> None:
    with lab() as one:
        assert one.run("many", V4, "200", "50000") == "200"
        one.end()
    assert one.counts["most_connections"] >= 200
    assert one.counts["bytes_down"] == 200 * 50_000


def test_a_port_can_be_reused_at_once() -> None:
    """The SYN arrives together with the last ACK of the connection before."""
    with lab() as one:
        assert one.run("reuse_ports", V4, "8", "25") == "0"
        one.end()
    assert (one.counts["established"], one.counts["closed"]) == (200, 200)


@pytest.mark.parametrize(("host", "mtu"), [(V4, 600), (V4, 1300), (V6, 1300)])
def test_segments_shrink_to_the_mtu_of_a_router_on_the_path(host: str, mtu: int) -> None:
    """The router before the client reports packets that are too big."""
    with lab() as one, far_client(one, mtu) as client:
        command = ("ip", "netns", "exec", client, *ENDS, "download", host, "5000000")
        assert execute(*command, check=True, timeout=60).stdout == "equal\n"
        # A FIN in a segment that was too big arrives, too.
        command = ("ip", "netns", "exec", client, *ENDS, "download", host, "1400")
        assert execute(*command, check=True, timeout=60).stdout == "equal\n"
        one.end()
    assert one.counts["packets_too_big"] >= 2
    assert one.counts["timeouts"] <= 1


def test_one_connection_too_many_is_refused_until_another_is_over() -> None:
    with lab("--max-connections", "5") as one:
        assert one.run("limited", V4, "6").split() == ["5", "ConnectionRefusedError", "again"]
        one.end()
    assert one.counts["over_connections"] == 1
    assert one.counts["most_connections"] == 5


def test_a_client_that_is_not_answered_tries_again() -> None:
    with lab("--max-connections", "3", "--refuse-silently") as one:
        assert one.run("patient", V4, "3") == "in"
        one.end()
    assert one.counts["over_connections"] >= 1


def test_memory_bounds_the_number_of_connections() -> None:
    # Half of 1 MB is promised: 16 KiB of window, the least, and as much for what comes back.
    with lab("--max-memory", "1", "--buffer", "65536") as one:
        assert one.run("limited", V4, "20").split() == ["15", "ConnectionRefusedError", "again"]
        # One download may keep a part of the other half.
        assert one.run("slow_reader", V4, "5000000") == "equal"
        one.end()
    assert one.counts["over_memory"] == 1
    assert one.counts["most_kept"] < 1_000_000


def test_slow_readers_leave_room_for_others() -> None:
    # Unbounded, the gateway would buffer 500 MB for them.
    with lab("--max-memory", "20") as one:
        assert one.run("crowd", V4, "100").split() == ["equal", "100"]
        one.end()
    assert one.counts["most_connections"] == 101
    assert 5_000_000 < one.counts["most_kept"] < 20_000_000


def test_all_connections_can_be_forwarded_to_one_server() -> None:
    with lab("--to", f"[{V6}]:7000") as one:
        assert one.run("download", "10.20.77.7", "200000") == "equal"
        one.end()
    assert one.counts["closed"] == 1


def test_a_syn_flood_does_not_disturb_connections() -> None:
    with lab("--max-half-open", "100", "--answer-at-once") as one:
        reported = one.run("flooded", V4, "4000")
        one.end()
    assert reported.split("\n") == ["equal", "echoed always"]
    assert one.counts["overrun"] >= 3800
    assert one.counts["most_connections"] <= 102
    assert one.counts["established"] == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_resets_open_connections_and_removes_the_device(number: int) -> None:
    with lab() as one:
        client = subprocess.Popen(
            ["ip", "netns", "exec", one.client, *ENDS, "pushes", V4],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(1)
        one.end(number)
        _, err = client.communicate(timeout=600)
        assert "ConnectionResetError" in err
        devices = execute("ip", "-n", one.client, "link", check=True)
        assert "rto0" not in devices.stdout
    assert one.counts["cut"] == 1
    assert one.gateway.returncode == (0 if number == signal.SIGINT else 128 + number)


def test_a_capture_of_the_device_can_be_diagnosed(tmp_path: Path) -> None:
    capture = tmp_path / "gateway.pcapng"
    with lab("--pcap", str(capture)) as one:
        one.run("download", V4, "500000")
        one.end()
    ran = program.run("diagnose", capture, "--json")
    document = json.loads(ran.stdout)
    assert re.search(r'"10\.20\.0\.1', ran.stdout), document


@pytest.mark.slow
def test_wrong_settings_are_refused_in_words() -> None:
    wrong = {
        ("--device", "a b"): "is no device name",
        ("--device", "lo"): "another kind of device",
        ("--mtu", "600"): (
            "--mtu 600: too small for IPv6 addresses: the default --address fd00:9::1/64 is one; "
            "expected 1280 or more, or IPv4 alone: --address 10.9.0.1/24"
        ),
        ("--mtu", "600", "--address", "fd00::1/64"): (
            "--mtu 600: too small for IPv6 addresses: expected 1280 or more\n"
        ),
        ("--route", "10.1.0.0/16", "--route", "10.1.0.0/16"): (
            "--route 10.1.0.0/16: found it twice; expected different networks"
        ),
        ("--route", "10.9.0.0/24"): "the network of --address 10.9.0.1/24 has this route already",
        ("--max-memory", "1", "--buffer", "900000"): "one alone takes",
        ("--buffer", "100"): "two segments",
        ("--sender", "sack+frot"): "unknown policy `frot`",
        ("--address", "nowhere"): "expected an address",
        ("--address", "10.9.0.1/24", "--address", "10.9.0.1/24"): "found it twice; expected diff",
        ("--route", "nowhere"): "--route nowhere: expected a network, such as 10.1.0.0/16",
        ("--route", "10.1.2.3/8"): "host bits are set; expected the network 10.0.0.0/8",
        ("--route", "fd00::1/64"): "expected the network fd00::/64",
        ("--to", "80"): "expected HOST:PORT",
        ("--set", "tcp.mss=500 B"): "none is given",
    }
    for options, message in wrong.items():
        ran = program.run("gateway", *options)
        assert ran.returncode == 2, ran.stderr
        assert message in ran.stderr
        assert "Traceback" not in ran.stderr
