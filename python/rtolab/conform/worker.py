"""One transfer of a client and a server on a scenario's links, in a process of its own.

A process runs one command at a time, and the hosts of several must not meet: each has its process.
The first argument is a file with the `Order`, as JSON; the second is where `Measured` goes.
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
"""Waits for a socket that listens, a datagram socket, or a program behind a TUN device."""
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
    """What is started here runs before all that is not in real time, and behind the links.

    A stack that waits for a processor answers late, and what it does then another run may not do.
    """
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    # Where nobody may do that, scores scatter on a busy machine.
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    try:
        yield
    finally:
        with suppress(PermissionError):
            os.sched_setscheduler(0, *before)


def run(order: Order) -> dict[str, object]:
    """`Measured` as a dictionary."""
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
