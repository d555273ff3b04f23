"""A run beside its fork at a timeout."""

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.result import Result
from rtolab.serve.packing import Packing
from rtolab.serve.runs import Request, disturbances, sender_seen, simulate, write


def branch(request: Request) -> bytes:
    """The run and its fork as data for the figures.

    Raises:
        Error: what is wrong; there is no such timeout.
    """
    sender, other = request["sender"], next(iter(request["others"]), None)
    original = simulate(request, [sender], judges=())
    flows = list(dict.fromkeys(original.connections["flow"]))
    flow = request["flow"] if request["flow"] in flows else flows[0]
    outcome = _rtolab.branch(
        write(request),
        set=list(request["set"].items()),
        timeout={
            "sender": sender,
            "seed": request["seed"],
            "flow": flow,
            "at_s": request["at_s"],
            "seq": request["seq"],
        },
        other=other,
        confined=True,
    )
    if outcome is None:
        raise Error(f"no timeout at {request['at_s']} s; run again, and choose one of the table")
    changed = Result(original.scenario, outcome, runs=1, traced=True)
    packing = Packing()
    alternative = f"{other} from there on" if other else f"{sender}, if it had not fired"
    runs = [(f"{sender}, the actual run", original), (alternative, changed)]
    senders = [
        sender_seen(result, (flow, request), packing) | {"name": name} for name, result in runs
    ]
    head = {
        "flow": flow,
        "disturbances": disturbances(original),
        "seed": request["seed"],
        "place": request["place"],
        "end_s": max(one["end_s"] for one in senders),
        "senders": senders,
    }
    return packing.answer(head)
