"""A reproduction as a JSON document, and back."""

import math
from dataclasses import asdict, replace
from typing import Any

from rtolab.experiments.base import Alternative, Assumption, Experiment, Judgement, Table, Value
from rtolab.experiments.explanation import Demonstration
from rtolab.experiments.reproduce import Reproduction, Row
from rtolab.experiments.sensitivity import AlternativeResult, CheckComparison
from rtolab.stats import Estimate, Summary


def document(done: Reproduction) -> dict[str, Any]:
    """A reproduction as JSON; missing and infinite numbers are null."""
    experiment = done.experiment
    return {
        "experiment": experiment.id,
        "title": experiment.title,
        "source": experiment.source,
        "note": experiment.note,
        "runs": done.runs,
        "seed": done.seed,
        "quick": done.quick,
        "rows": [_row(row) for row in done.rows],
        "derived": [_value(value) for value in done.derived],
        "tables": [_table(table) for table in done.tables],
        "checks": [_judgement(check) for check in done.checks],
        "assumptions": [asdict(assumption) for assumption in done.assumptions],
        "alternatives": [_tried(tried) for tried in done.alternatives],
        "verdict": done.verdict,
        "wall_s": round(done.wall_s, 3),
    }


def reproduction(experiment: Experiment, data: dict[str, Any]) -> Reproduction:
    """The reproduction from whose document these are the data, without the runs themselves.

    Args:
        experiment: the one that was run, declared as it was then.
        data: the document.
    """
    metrics = {metric.name: metric for metric in experiment.metrics}
    variants = {variant.key: variant for variant in experiment.variants}
    return Reproduction(
        experiment,
        data["runs"],
        data["seed"],
        tuple(Assumption(**assumption) for assumption in data["assumptions"]),
        tuple(
            Row(
                variants[row["variant"]],
                metrics[row["metric"]],
                row["published"],
                Summary(**row["measured"]) if row["measured"] else None,
                tuple(row["band"]) if row["band"] else None,
            )
            for row in data["rows"]
        ),
        tuple(_read_judgement(check) for check in data["checks"]),
        tuple(_read_value(value) for value in data["derived"]),
        tuple(_read_table(table) for table in data["tables"]),
        tuple(_read_alternative(tried) for tried in data["alternatives"]),
        data["wall_s"],
        data["quick"],
    )


def _row(row: Row) -> dict[str, Any]:
    return {
        "variant": row.variant.key,
        "label": row.variant.title,
        "metric": row.metric.name,
        "published": row.published,
        "measured": asdict(row.measured) if row.measured else None,
        "band": row.band,
    }


def _value(value: Value) -> dict[str, Any]:
    found = value.measured
    number, interval = found, None
    if isinstance(found, Estimate):
        number, interval = found.value, _finite_interval((found.low, found.high))
    return asdict(replace(value, measured=_finite(number))) | {"interval": interval}  # type: ignore[arg-type]


def _read_value(data: dict[str, Any]) -> Value:
    parts = dict(data)
    interval = parts.pop("interval")
    value = Value(**parts)
    if interval is None:
        return value
    return replace(value, measured=Estimate(data["measured"], *interval))


def _table(table: Table) -> dict[str, Any]:
    cells = [[asdict(c) if isinstance(c, Estimate) else c for c in row] for row in table.rows]
    return asdict(replace(table, rows=())) | {"rows": cells}


def _read_table(data: dict[str, Any]) -> Table:
    rows = tuple(
        tuple(Estimate(**cell) if isinstance(cell, dict) else cell for cell in row)
        for row in data["rows"]
    )
    return Table(**data | {"head": tuple(data["head"]), "rows": rows})


def _judgement(check: Judgement) -> dict[str, Any]:
    interval = _finite_interval(check.interval) if check.interval else None
    return asdict(check) | {"measured": _finite(check.measured), "interval": interval}


def _read_judgement(data: dict[str, Any]) -> Judgement:
    interval, shown_by = data["interval"], data["shown_by"]
    return Judgement(
        **data
        | {
            "interval": tuple(interval) if interval else None,
            "shown_by": Demonstration(**shown_by) if shown_by else None,
        }
    )


def _tried(tried: AlternativeResult) -> dict[str, Any]:
    return {
        "name": tried.alternative.name,
        "set": dict(tried.alternative.set),
        "why": tried.alternative.why,
        "runs": tried.runs,
        "kept": len(tried.those("kept")),
        "changed": len(tried.those("changed")),
        "undecided": len(tried.those("undecided")),
        "checks": [
            _judgement(check.judged) | {"before": check.before, "leaning": check.leaning}
            for check in tried.checks
        ],
    }


def _read_alternative(data: dict[str, Any]) -> AlternativeResult:
    checks = []
    for check in data["checks"]:
        judged = {key: check[key] for key in check if key not in ("before", "leaning")}
        checks.append(CheckComparison(check["before"], _read_judgement(judged), check["leaning"]))
    alternative = Alternative(data["name"], data["set"], data["why"])
    return AlternativeResult(alternative, data["runs"], tuple(checks))


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _finite_interval(interval: tuple[float, float]) -> tuple[float, float] | None:
    return interval if all(math.isfinite(end) for end in interval) else None
