"""Lists of senders, detectors, scenarios and more, as text and as JSON."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rtolab import _rtolab
from rtolab.run import included_scenarios, scenario_origin, scenario_title
from rtolab.suites import ABOUT, PARTS, VERSIONS


class Kind(StrEnum):
    """What can be listed."""

    SENDERS = "senders"
    RECEIVERS = "receivers"
    DETECTORS = "detectors"
    MEASURES = "measures"
    SCENARIOS = "scenarios"
    CONFORM = "conform"
    EXPERIMENTS = "experiments"


QUESTIONS = {
    "recovery": "Loss recovery: what is lost?",
    "profile": "Profiles: senders as systems shipped them, in place of a loss recovery",
    "reduction": "Reductions: how is the window reduced in fast recovery?",
    "timer": "Timers: how long does the sender wait for an acknowledgment?",
    "back-off": "Back-off: how does the timeout grow while nothing is acknowledged?",
    "timeout": "F-RTO: what is sent after a timeout, and was the timeout spurious?",
    "spurious": "Detectors: was a retransmission spurious?",
    "response": "Responses: what follows from a spurious retransmission?",
    "congestion": "Congestion control: how fast does the window grow, and what does a loss leave?",
    "pacing": "Pacing: when do the segments leave that the windows allow?",
    "slow start": "Slow start: when does it end?",
    "reordering": "Reordering: how much of it is tolerated?",
    "network": "The network: which signals does it give?",
}
"""The question of each kind of policy, in the order of a sender specification."""

SPECIFICATIONS = (
    "A sender specification combines policies: newreno+frto, sack+eifel:rfc3522+rfc4015. It "
    "begins with a loss recovery or a profile (linux-2.4). Then follow, in any order, at most one "
    "reduction, timer, F-RTO, response, congestion control, end of slow start and tolerance of "
    "reordering, any number of back-off policies and detectors, pacing, ecn, and eln. The "
    "scenario sets the rest.\n\n"
    "These exclude each other: two of one group, except detectors; two forms of one detector, "
    "such as eifel and eifel:safe; F-RTO and dualrtt. dsack needs SACK. A response needs F-RTO or "
    "a detector, and may follow it after a colon: eifel:rfc3522:rfc4015 is "
    "eifel:rfc3522+rfc4015. Without a response each detector has that of its own publication."
)


def document(kind: Kind | None) -> dict[str, list[dict[str, Any]]]:
    """The entries of one kind, or of every kind."""
    parts: dict[Kind, tuple[str, Callable[[], Sequence[Any]]]] = {
        Kind.SENDERS: ("policies", _rtolab.policies),
        Kind.RECEIVERS: ("receivers", _rtolab.receivers),
        Kind.DETECTORS: ("detectors", _rtolab.detectors),
        Kind.MEASURES: ("measures", _measures),
        Kind.SCENARIOS: ("scenarios", _scenarios),
        Kind.CONFORM: ("conform", _conform),
        Kind.EXPERIMENTS: ("experiments", _experiments),
    }
    chosen = list(parts) if kind is None else [kind]
    return {name: list(found()) for name, found in (parts[one] for one in chosen)}


def text(kind: Kind | None, width: int) -> RenderableType:
    """The entries as text, a line for each, with sources if they fit into `width`."""
    parts: dict[Kind, Callable[[int], RenderableType]] = {
        Kind.SENDERS: _senders_text,
        Kind.RECEIVERS: _receivers_text,
        Kind.DETECTORS: _detectors_text,
        Kind.MEASURES: _measures_text,
        Kind.SCENARIOS: _scenarios_text,
        Kind.CONFORM: _conform_text,
        Kind.EXPERIMENTS: _experiments_text,
    }
    if kind is None:
        return Group(*(part(width) for part in parts.values()))
    return parts[kind](width)


def _measures() -> list[dict[str, str]]:
    from rtolab.measures import MEASURES  # noqa: PLC0415

    return [
        {"name": m.name, "unit": m.unit, "source": m.source, "about": m.about}
        for m in MEASURES.values()
    ]


def _scenarios() -> list[dict[str, str]]:
    return [
        {
            "name": name,
            "title": scenario_title(path),
            "origin": scenario_origin(path),
            "path": str(path),
        }
        for name, path in included_scenarios().items()
    ]


def _conform() -> list[dict[str, str | int | None]]:
    from rtolab.conform import suite  # noqa: PLC0415

    return [
        {
            "id": one.id,
            "title": one.says,
            "suite": which.value,
            "suite_version": which.version,
            "part": one.suite.value if one.suite in PARTS else None,
        }
        for which in VERSIONS
        for one in suite(which)
    ]


def _experiments() -> list[dict[str, Any]]:
    from rtolab.experiments import EXPERIMENTS  # noqa: PLC0415

    return [
        {"id": e.id, "aliases": list(e.aliases), "title": e.title, "source": e.source}
        for e in EXPERIMENTS
    ]


def _senders_text(width: int) -> RenderableType:
    policies = _rtolab.policies()
    questions = dict.fromkeys((*QUESTIONS, *(policy["question"] for policy in policies)))
    tables = []
    for question in questions:
        of_it = [policy for policy in policies if policy["question"] == question]
        rows = [(policy["name"], policy["about"], policy["source"]) for policy in of_it]
        tables.append(_table(QUESTIONS.get(question, question), rows, width))
    more = Text("rtolab list senders --json adds the parameters of each profile with sources")
    return Group(Text("Senders", "bold"), Text(SPECIFICATIONS), Text(), *tables, more, Text())


def _receivers_text(width: int) -> RenderableType:
    tables = []
    for receiver in _rtolab.receivers():
        rows = [(behaviour["about"], behaviour["source"]) for behaviour in receiver["behaviours"]]
        tables.append(_table(f"{receiver['name']}: {receiver['about']}", rows, width))
    return Group(Text("Receivers: a scenario's receiver.profile\n", "bold"), *tables)


def _detectors_text(width: int) -> RenderableType:
    rows = [(d["name"], d["about"], d["source"]) for d in _rtolab.detectors()]
    return _table("Passive detectors (--judge)", rows, width)


def _measures_text(width: int) -> RenderableType:
    rows = [(m["name"], m["unit"], m["source"]) for m in _measures()]
    return _table("Measures, in rtolab.measures", rows, width)


def _scenarios_text(width: int) -> RenderableType:
    rows = [(s["name"], s["title"], s["origin"]) for s in _scenarios()]
    return _table("Scenarios", rows, width)


def _conform_text(width: int) -> RenderableType:
    every = _conform()
    tables = []
    for which, about in ABOUT.items():
        title = f"rtolab conform --suite {which}, version {which.version}: {about}"
        rows = [
            (f"{one['id']}", f"{one['title']}", f"{one['part'] or ''}")
            for one in every
            if one["suite"] == which
        ]
        tables.append(_table(title, rows, width))
    parts = [(f"--suite {part}", words) for part, words in PARTS.items()]
    return Group(*tables, _table("Parts of the suite fifty", parts, width))


def _experiments_text(width: int) -> RenderableType:
    rows = [(", ".join((e["id"], *e["aliases"])), e["title"]) for e in _experiments()]
    return _table("Experiments", rows, width)


INDENT, GAP, ALWAYS = 2, 2, 2


def _table(title: str, rows: Sequence[Sequence[str]], width: int) -> RenderableType:
    """A line for each row. The third column appears only if it fits as a whole."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    shown = len(widths)
    if shown > ALWAYS and INDENT + sum(widths) + GAP * (shown - 1) > width:
        shown = ALWAYS
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, GAP, 0, 0))
    for _ in range(shown):
        table.add_column()
    for row in rows:
        table.add_row(*(Text(cell) for cell in row[:shown]))
    return Group(Text(title, "italic"), Padding(table, (0, 0, 1, INDENT), expand=False))
