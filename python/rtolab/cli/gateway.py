"""`rtolab gateway`: a split-connection proxy on a TUN device."""

from __future__ import annotations

import ipaddress
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.cli.options import Set
from rtolab.cli.terminal import announce, finite, pairs, print_json, stdout
from rtolab.files import check_targets
from rtolab.process import on_end_signal
from rtolab.run import find_scenario
from rtolab.text import counted

if TYPE_CHECKING:
    from rtolab._rtolab import GatewayCounts

MB = 10**6
MOST = 10**9
"""The default limits: connections, bytes of each, MB of all."""
ADDRESSES = ("10.9.0.1/24", "fd00:9::1/64")
"""The default addresses of the device."""
IPV6_MTU = 1280
"""The smallest MTU of IPv6 (RFC 8200, section 5)."""


def gateway(  # noqa: PLR0913  (all but the first are options)
    scenario: Annotated[
        str | None,
        typer.Argument(
            help="A TOML file, or the name of an included scenario: its first flow says how the "
            "engine sends and receives. Its links are not used."
        ),
    ] = None,
    *,
    sender: Annotated[
        str | None,
        typer.Option(
            "--sender", "-s", help="The engine's sender; by default the scenario's or linux."
        ),
    ] = None,
    set_: Set = None,
    device: Annotated[str, typer.Option(help="The name of the TUN device.")] = "rto0",
    netns: Annotated[str | None, typer.Option(help="The network namespace of the device.")] = None,
    address: Annotated[
        list[str] | None,
        typer.Option(
            help="An address of the device and its prefix; default: 10.9.0.1/24, fd00:9::1/64."
        ),
    ] = None,
    route: Annotated[
        list[str] | None, typer.Option(help="A network to route through the device.")
    ] = None,
    mtu: Annotated[int, typer.Option(min=576, max=65535, help="The MTU, in bytes.")] = 1500,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="The destination of all connections, instead of their own.",
        ),
    ] = None,
    answer_at_once: Annotated[
        bool,
        typer.Option("--answer-at-once", help="Do not wait for the server to answer a client."),
    ] = False,
    refuse_silently: Annotated[
        bool,
        typer.Option("--refuse-silently", help="Send no reset to clients beyond a limit."),
    ] = False,
    max_connections: Annotated[int, typer.Option(min=1, max=MOST, help="Open connections.")] = 4096,
    max_half_open: Annotated[
        int,
        typer.Option(min=1, max=MOST, help="Half-open connections; one more evicts the oldest."),
    ] = 512,
    max_time_wait: Annotated[
        int, typer.Option(min=0, max=MOST, help="Connections in TIME-WAIT.")
    ] = 16384,
    max_memory: Annotated[
        int, typer.Option(min=1, max=MOST, help="The largest payload of all connections, in MB.")
    ] = 1024,
    buffer: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST, help="The largest window for a client, in bytes; default: 262144."
        ),
    ] = None,
    send_buffer: Annotated[
        int, typer.Option(min=1, max=MOST, help="The send buffer for a client, in bytes.")
    ] = 1 << 20,
    idle: Annotated[
        float,
        typer.Option(min=1, callback=finite, help="Seconds without a byte until a reset."),
    ] = 7440,
    give_up: Annotated[
        float,
        typer.Option(min=1, callback=finite, help="Seconds until a silent client counts as gone."),
    ] = 180,
    pcap: Annotated[
        Path | None, typer.Option(help="A pcapng file for the headers of all TCP packets.")
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(min=0, callback=finite, help="Seconds until the gateway ends."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document at the end.")
    ] = False,
) -> None:
    """Terminate TCP from a TUN device in the engine, and relay it over the kernel's sockets.

    Clients on the side of the device speak to the engine, with any sender; servers on the other
    side speak to this machine's kernel. Needs Linux and root. Runs until Ctrl-C.
    """
    if set_ and scenario is None:
        raise Error("--set replaces keys of a scenario, and none is given")
    for text in (sender, device, netns):
        (text or "").encode()  # The extension would not say what is wrong with it.
    path = None if scenario is None else find_scenario(scenario)
    check_targets([(f"--pcap {pcap}", pcap)], [] if path is None else [path])
    addresses, routes = _addresses(address, mtu), [_network(text) for text in route or []]
    _check_routes(routes, addresses)
    settings = {
        "scenario": path,
        "set": list(pairs(set_, "--set").items()),
        "sender": sender,
        "device": device,
        "addresses": addresses,
        "needs_ipv6": any(":" in text for text in address or []),
        "routes": routes,
        "namespace": netns,
        "mtu": mtu,
        "to": None if to is None else _endpoint(to),
        "answers_at_once": answer_at_once,
        "refuses_silently": refuse_silently,
        "buffer": buffer,
        "send_buffer": send_buffer,
        "max_connections": max_connections,
        "max_half_open": max_half_open,
        "max_time_wait": max_time_wait,
        "max_memory": max_memory * MB,
        "idle_s": idle,
        "give_up_s": give_up,
        "pcap": pcap,
        "duration_s": duration,
    }

    def ready(ipv4_alone: bool) -> None:
        place = f" in {netns}" if netns else ""
        without = ", for IPv4 alone: IPv6 is disabled there" if ipv4_alone else ""
        announce(f"gateway on {device}{place}{without}; Ctrl-C ends it")

    signals: list[int] = []

    def end(number: int, _: object) -> None:  # As Ctrl-C does, so that the counts are printed.
        signals.append(number)
        raise KeyboardInterrupt

    with on_end_signal(end):
        counts = _rtolab.gateway(settings, ready=ready)
    if as_json:
        print_json(counts)
    else:
        stdout().print(_summary(counts), highlight=False, soft_wrap=True)
    if signals:
        raise typer.Exit(128 + signals[0])


def _addresses(given: list[str] | None, mtu: int) -> list[tuple[str, int]]:
    """The addresses of the device; Error if one is there twice or the MTU is too small for it."""
    addresses = [_interface(text) for text in given or ADDRESSES]
    for at, (one, prefix) in enumerate(addresses):
        if (one, prefix) in addresses[:at]:
            raise Error(f"--address {one}/{prefix}: found it twice; expected different addresses")
        if ":" in one and mtu < IPV6_MTU:
            default = "" if given else f"the default --address {one}/{prefix} is one; "
            ipv4 = " ".join(f"--address {text}" for text in given or ADDRESSES if ":" not in text)
            without = f", or IPv4 alone: {ipv4}" if ipv4 else ""
            raise Error(
                f"--mtu {mtu}: too small for IPv6 addresses: {default}expected {IPV6_MTU} or "
                f"more{without}"
            )
    return addresses


def _check_routes(routes: list[tuple[str, int]], addresses: list[tuple[str, int]]) -> None:
    """Raises Error if a network is there twice, or already has a route because of an address."""
    # The kernel adds a route for the network of an IPv4 address, and refuses a second one.
    by_address = {
        ipaddress.ip_interface(f"{one}/{prefix}").network: f"{one}/{prefix}"
        for one, prefix in addresses
        if ":" not in one and prefix < ipaddress.IPV4LENGTH
    }
    for at, (one, prefix) in enumerate(routes):
        text = f"{one}/{prefix}"
        if (one, prefix) in routes[:at]:
            raise Error(f"--route {text}: found it twice; expected different networks")
        address = by_address.get(ipaddress.ip_network(text))
        if address:
            raise Error(
                f"--route {text}: the network of --address {address} has this route already; "
                "expected another network"
            )


def _interface(text: str) -> tuple[str, int]:
    try:
        one = ipaddress.ip_interface(text)
    except ValueError:
        raise Error(f"--address {text}: expected an address, such as 10.9.0.1/24") from None
    return str(one.ip), one.network.prefixlen


def _network(text: str) -> tuple[str, int]:
    try:
        one = ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise Error(f"--route {text}: expected a network, such as 10.1.0.0/16 or ::/0") from None
    if one.network_address != ipaddress.ip_interface(text).ip:
        raise Error(f"--route {text}: host bits are set; expected the network {one}")
    return str(one.network_address), one.prefixlen


def _endpoint(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise Error(f"--to {text}: expected HOST:PORT, such as 192.0.2.1:80 or [2001:db8::1]:80")
    try:
        found = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)
    except OSError as error:
        raise Error(f"--to {text}: no address of `{host}` is known ({error})") from None
    return str(found[0][4][0]), int(port)


def _summary(counts: GatewayCounts) -> str:
    """A summary of what a gateway has done."""
    refused = counts["over_connections"] + counts["over_memory"] + counts["over_sockets"]
    began = (
        f"{counts['established']} of {counted(counts['opened'], 'connection')} established, "
        f"at most {counts['most_connections']} at once; {refused} refused, "
        f"{counts['overrun']} half-open evicted"
    )
    ended = (
        f"{counts['closed']} closed, {counts['reset_by_client']} reset by clients, "
        f"{counts['reset_by_server']} by servers, {counts['refused_by_server']} refused by "
        f"servers, {counts['timed_out']} timed out, {counts['idle']} idle, {counts['cut']} cut off"
    )
    carried = (
        f"{counts['bytes_up']} bytes to servers, {counts['bytes_down']} to clients, at most "
        f"{counts['most_kept']} kept"
    )
    recovered = (
        f"{counted(counts['segments_in'], 'segment')} in, {counts['segments_out']} out, "
        f"{counts['retransmissions']} of them retransmissions: "
        f"{counted(counts['timeouts'], 'timeout')}, "
        f"{counts['spurious_timeouts']} found spurious; "
        f"{counted(counts['fast_retransmits'], 'fast retransmit')}, "
        f"{counts['spurious_fast_retransmits']} found spurious; "
        f"{counts['undone']} undone; {counted(counts['probes'], 'probe')}"
    )
    lines = [began, ended, carried, recovered]
    if counts["packets_too_big"]:
        messages = counted(counts["packets_too_big"], "ICMP message")
        lines.append(f"{messages} that a packet was too big for the path")
    dropped = {
        "not TCP": "not_tcp",
        "fragments": "fragments",
        "damaged": "damaged",
        "impossible addresses": "martian",
        "too many pieces": "pieces",
        "no connection": "stray",
        "refused by the device": "undelivered",
    }
    drops = [f"{counts[key]} {word}" for word, key in dropped.items() if counts[key]]  # type: ignore[literal-required]
    if drops:
        lines.append(f"packets dropped: {', '.join(drops)}")
    return "\n".join(lines)
