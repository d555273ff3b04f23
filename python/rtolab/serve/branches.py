"""A run beside what it would have been from one timeout on."""

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.result import Result
from rtolab.serve.packing import Packing
from rtolab.serve.runs import Asked, disturbances, sender_seen, simulate, write


def branch(asked: Asked) -> bytes:
    """The actual run and the alternative, as figures need them.

    Raises:
        Error: what is wrong; there is no such timeout.
    """
    sender, other = asked["sender"], next(iter(asked["others"]), None)
    original = simulate(asked, [sender], judges=())
    flows = list(dict.fromkeys(original.connections["flow"]))
    flow = asked["flow"] if asked["flow"] in flows else flows[0]
    outcome = _rtolab.branch(
        write(asked),
        set=list(asked["set"].items()),
        timeout={
            "sender": sender,
            "seed": asked["seed"],
            "flow": flow,
            "at_s": asked["at_s"],
            "seq": asked["seq"],
        },
        other=other,
        confined=True,
    )
    if outcome is None:
        raise Error(f"no timeout at {asked['at_s']} s; run again, and choose one of the table")
    changed = Result(original.scenario, outcome, runs=1, traced=True)
    packing = Packing()
    alternative = f"{other} from there on" if other else f"{sender}, if it had not fired"
    runs = [(f"{sender}, the actual run", original), (alternative, changed)]
    senders = [
        sender_seen(result, (flow, asked), packing) | {"name": name} for name, result in runs
    ]
    head = {
        "flow": flow,
        "disturbances": disturbances(original),
        "seed": asked["seed"],
        "place": asked["place"],
        "end_s": max(one["end_s"] for one in senders),
        "senders": senders,
    }
    return packing.answer(head)
