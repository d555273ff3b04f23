"""Worker process: one transfer of a client and a server on the links of a scenario.

Each transfer has a process of its own, since a process has one set of hosts and runs one command at
a time. The first argument is a JSON file with the `Order`, the second the output file for
`TransferMeasurement`.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from rtolab import _rtolab
from rtolab.conform.evidence import save_captures
from rtolab.conform.measure import command
from rtolab.conform.order import Order
from rtolab.emulation import EmulationResult
from rtolab.emulation.programs import in_namespaces
from rtolab.process import ends_in_order


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
    """Runs the transfer; returns `TransferMeasurement` as a dictionary."""
    both = in_namespaces(order.client, order.server, lead_s=order.lead_s, limit_s=order.limit_s)
    with _before_others():
        outcome, report = _rtolab.emulate(
            order.scenario,
            set=[(key, value) for key, value in order.set],
            seed=order.seed,
            command=both,
            keep=True,
        )
    result = EmulationResult(order.scenario, outcome, [report])
    if order.evidence:
        save_captures(Path(order.evidence), result)
    return asdict(command(result, report["returncode"]))


if __name__ == "__main__":
    with ends_in_order():
        order, output = (Path(name) for name in sys.argv[1:])
        found = run(Order(**json.loads(order.read_text(encoding="utf-8"))))
    output.write_text(json.dumps(found), encoding="utf-8")
