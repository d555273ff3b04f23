"""One transfer of a client and a server on a scenario's links, in a process of its own.

A process runs one command at a time, and the hosts of several must not meet: each has its process.
The first argument is a file with the `Order`, as JSON; the second is where `Measured` goes.
"""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path

from rtolab import _rtolab
from rtolab.conform.measure import command
from rtolab.conform.order import Order
from rtolab.emulation import Emulated
from rtolab.process import ends_in_order

SCRIPT = """
ip netns exec "$RTOLAB_PEER_NETNS" sh -c {server} &
sleep {lead:g}
timeout -k 1 {limit:g} {client}
"""


def run(order: Order) -> dict[str, object]:
    """`Measured` as a dictionary."""
    script = SCRIPT.format(
        server=shlex.quote(order.server),
        lead=order.lead_s,
        limit=order.limit_s,
        client=shlex.join(order.client),
    )
    outcome, report = _rtolab.emulate(
        order.scenario,
        set=[(key, value) for key, value in order.set],
        seed=order.seed,
        command=["sh", "-c", script],
        keep=True,
    )
    result = Emulated(order.scenario, outcome, [report])
    return asdict(command(result, order.lead_s, report["returncode"]))


if __name__ == "__main__":
    with ends_in_order():
        found = run(Order(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
    Path(sys.argv[2]).write_text(json.dumps(found), encoding="utf-8")
