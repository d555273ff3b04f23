"""Worker process: one transfer of a client and a server on the links of a scenario.

Each transfer has a process of its own, since a process has one set of hosts and runs one command at
a time. The first argument is a JSON file with the `Order`, the second the output file for
`Measured`.
"""

import json
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from rtolab import _rtolab
from rtolab.conform.measure import command
from rtolab.conform.order import GONE, Order
from rtolab.emulation import Emulated
from rtolab.process import ends_in_order

LISTENS = """
left={looks}
until
    grep -qs " 0A " /proc/net/tcp /proc/net/tcp6 || grep -qs ": " /proc/net/udp /proc/net/udp6 ||
    grep -qs 1 /sys/class/net/stack0/carrier || [ "$left" -le 0 ]
do
    left=$((left - 1))
    sleep 0.1
done
sleep 0.2
"""
"""Waits for a listening socket, a datagram socket, or a program on a TUN device."""
SCRIPT = """
{{
    ip netns exec "$RTOLAB_PEER_NETNS" sh -c {server}
    code=$?
    # A signal ends what is left at the end.
    [ "$code" = 0 ] || [ "$code" -ge 128 ] || echo "{gone} $code" >&2
}} &
ip netns exec "$RTOLAB_PEER_NETNS" sh -c {listens}
exec timeout -k 1 {limit:g} {client}
"""


@contextmanager
def _before_others() -> Iterator[None]:
    """Programs started within have real-time priority, but a lower one than the links.

    A stack that waits for a processor answers late, and may behave differently in another run.
    """
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    # Without the permission, scores scatter on a busy machine.
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    try:
        yield
    finally:
        with suppress(PermissionError):
            os.sched_setscheduler(0, *before)


def run(order: Order) -> dict[str, object]:
    """Runs the transfer; returns `Measured` as a dictionary."""
    script = SCRIPT.format(
        server=shlex.quote(order.server),
        gone=GONE,
        listens=shlex.quote(LISTENS.format(looks=round(order.lead_s * 10))),
        limit=order.limit_s,
        client=shlex.join(order.client),
    )
    with _before_others():
        outcome, report = _rtolab.emulate(
            order.scenario,
            set=[(key, value) for key, value in order.set],
            seed=order.seed,
            command=["sh", "-c", script],
            keep=True,
        )
    result = Emulated(order.scenario, outcome, [report])
    return asdict(command(result, report["returncode"]))


if __name__ == "__main__":
    with ends_in_order():
        order, output = (Path(name) for name in sys.argv[1:])
        found = run(Order(**json.loads(order.read_text(encoding="utf-8"))))
    output.write_text(json.dumps(found), encoding="utf-8")
