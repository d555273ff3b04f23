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
from rtolab.conform.watch import Watch
from rtolab.emulation import Emulated
from rtolab.process import ends_in_order

SCRIPT = """
ip netns exec "$RTOLAB_PEER_NETNS" sh -c {server} &
sleep {lead:g}
timeout -k 1 {limit:g} {client}
status=$?
date +%s.%N > {ended}
exit $status
"""


def run(order: Order, ended: Path) -> dict[str, object]:
    """`Measured` as a dictionary; when the client ended is written to `ended`."""
    script = SCRIPT.format(
        server=shlex.quote(order.server),
        lead=order.lead_s,
        limit=order.limit_s,
        client=shlex.join(order.client),
        ended=shlex.quote(str(ended)),
    )
    with Watch.of("client") as watch:
        outcome, report = _rtolab.emulate(
            order.scenario,
            set=[(key, value) for key, value in order.set],
            seed=order.seed,
            command=["sh", "-c", script],
            keep=True,
        )
    result = Emulated(order.scenario, outcome, [report])
    took_s = None
    if watch.first_s is not None and ended.exists():
        took_s = float(ended.read_text(encoding="ascii")) - watch.first_s
    return asdict(command(result, (order.lead_s, took_s), report["returncode"]))


if __name__ == "__main__":
    with ends_in_order():
        asked, told = (Path(name) for name in sys.argv[1:])
        order = Order(**json.loads(asked.read_text(encoding="utf-8")))
        found = run(order, told.with_suffix(".ended"))
    told.write_text(json.dumps(found), encoding="utf-8")
