"""Explains a name: a key of a scenario, a policy, a detector, a measure, a column."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.cli import listing
from rtolab.cli.columns import of_column
from rtolab.cli.words import WORDS

Schema = dict[str, Any]

MOST = 5
"""The most names in a message."""
QUANTITIES = {"min": "time", "bit/s": "rate", "kB": "size", "segments": "segments"}
"""The kind of a text, by a unit in its pattern."""
PLURALS = {one: f"{one}s" for one in ("table", "text", "time", "rate", "size", "number")}
"""The kinds of several values."""
UNITS = {"_s": "seconds", "_ms": "milliseconds", "_bps": "bits a second", "_bytes": "bytes"}
"""The unit of a column, by the end of its name."""
BYTES = re.compile(r"cwnd|ssthresh|flight|seq|len|ack|window(_edge)?|bytes|sack_\d_(start|end)")
"""Columns that count bytes."""
FRACTION = re.compile(r"(?<=^dualrtt):0\.\d{1,3}$")
"""The parameter in the name of a detector."""
DEFAULT = re.compile(r" Default: (?P<default>.*)\.$")
SOURCE = re.compile(r"RFC \d+(?: (?:section|appendix|equation|figure) [\dA-Z.]*[\dA-Z])?")


@dataclass(frozen=True)
class Explanation:
    """A meaning of a name. Empty attributes do not apply.

    Attributes:
        name: the full name.
        kind: the kind of the named thing.
        about: the meaning in words.
        type: the type of its values, with their unit.
        default: the value of a key that is not set.
        source: the publication.
        example: an example of its use.
        parts: its choices or columns, each with its meaning.
    """

    name: str
    kind: str
    about: str
    type: str = ""
    default: str = ""
    source: str = ""
    example: str = ""
    parts: dict[str, str] = field(default_factory=dict)


def text(one: Explanation) -> RenderableType:
    """The explanation as text for a terminal."""
    facts = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("type", "default", "source", "example"):
        if value := getattr(one, name):
            facts.add_row(name, Text(value))
    parts = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 2))
    for name, meaning in one.parts.items():
        parts.add_row(Text(name), Text(meaning))
    head = Text.assemble((one.name, "bold"), f": {one.kind}")
    shown = [Text(one.about)] if one.about else []
    return Group(head, *shown, facts, *([parts] if one.parts else []), Text())


def explain(name: str) -> list[Explanation]:
    """All meanings of a name.

    Args:
        name: of a key its last part is enough; links, hosts and flows may stand in it by names of
            their own.

    Raises:
        Error: the name is unknown.
    """
    known = _known()
    name = FRACTION.sub("", name)
    found = known.get(name) or known.get(".".join(_without_names(name.split("."))))
    if found is None and "." not in name:
        keys = [key for key in known if key.endswith(f".{name}")]
        found = [one for key in keys[:MOST] for one in known[key]]
    if found:
        return found
    pool = {key.rsplit(".", 1)[-1]: key for key in known} | {key: key for key in known}
    near = dict.fromkeys(pool[one] for one in get_close_matches(name, pool, MOST, 0.5))
    names = ", ".join(near) or "a key of a scenario or a name that `rtolab list` shows"
    raise Error(f"found {name!r}; expected {names}")


def _without_names(steps: list[str]) -> Iterator[str]:
    """The path to a key, without the names of tables in lists."""
    schema = json.loads(_rtolab.schema())
    for place, step in enumerate(steps, 1):
        tables = list(within(schema))
        inner = next((t["properties"][step] for t in tables if step in t["properties"]), None)
        if inner is not None or schema.get("type") != "array" or place == len(steps):
            yield step
        schema = schema if inner is None else inner


@cache
def _known() -> dict[str, list[Explanation]]:
    """All names, with their meanings."""
    known: dict[str, list[Explanation]] = {}
    for one in (*_keys("", json.loads(_rtolab.schema())), *_names(), *_words(), *_columns()):
        known.setdefault(one.name, []).append(one)
    return known


def _keys(path: str, schema: Schema) -> Iterator[Explanation]:
    for key, value in schema["properties"].items():
        name = f"{path}.{key}" if path else key
        about = value.get("description", "")
        default = DEFAULT.search(about)
        tables = list(within(value))[:1]
        parts = {choice: meaning for choice, meaning in choices(value) if meaning}
        for table in tables:
            inner = table["properties"].items()
            parts |= {key: value.get("description", "") for key, value in inner}
        yield Explanation(
            name,
            "key of a scenario",
            DEFAULT.sub("", about),
            kind(value),
            default["default"] if default else "",
            ", ".join(SOURCE.findall(about)),
            _example(name, value),
            parts,
        )
        for table in tables:
            yield from _keys(name, table)


def _example(name: str, value: Schema) -> str:
    """An example of the key with a value."""
    found = _sample(value)
    return f"{name} = {_toml(found)}" if found is not None else ""


def _sample(value: Schema) -> Any:
    """A valid value; None if the schema has no example."""
    words = [word for word, _ in choices(value)]
    numbers = [value[bound] for bound in ("minimum",) if value.get("type") == "integer"]
    yes = [True] * (value.get("type") == "boolean")
    examples = [*value.get("examples", ()), *words, *numbers, *yes]
    if examples:
        return examples[0]
    is_list = value.get("type") == "array"
    for table in within(value):
        # A list of tables says most; it needs no other key beside it.
        inner = sorted(table["properties"].items(), key=lambda one: one[1].get("type") != "array")
        samples = {key: found for key, one in inner if (found := _sample(one)) is not None}
        needed = table.get("required", list(samples)[:1])
        if needed and samples.keys() >= set(needed):
            found = {key: samples[key] for key in needed}
            return [found] if is_list else found
    return None


def _toml(value: Any) -> str:
    match value:
        case dict():
            return f"{{ {', '.join(f'{key} = {_toml(one)}' for key, one in value.items())} }}"
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case _:
            return json.dumps(value)


def choices(value: Schema) -> Iterator[tuple[str, str]]:
    """The choices of a value, each with its meaning."""
    for one in (value, *value.get("anyOf", ())):
        for choice in one.get("oneOf", ()):
            if "const" in choice:
                yield choice["const"], choice.get("description", "")


def within(value: Schema) -> Iterator[Schema]:
    """The tables that a value can be or contain."""
    if value.get("type") == "object" and "properties" in value:
        yield value
    for inner in (value.get("items"), value.get("additionalProperties")):
        if isinstance(inner, dict):
            yield from within(inner)
    choices = [one["properties"] for one in value.get("oneOf", ()) if "properties" in one]
    if choices:
        keys = {key: value for properties in choices for key, value in properties.items()}
        yield {"description": "One of these keys.", "properties": keys}
    for one in value.get("anyOf", ()):
        yield from within(one)


def kind(value: Schema) -> str:
    """The type of a value, in a few words."""
    words = [json.dumps(word) for word, _ in choices({"oneOf": value.get("oneOf", ())})]
    if words:
        return " | ".join(words)
    kinds = [*value.get("anyOf", ()), *value.get("oneOf", ())]
    shown = " or ".join(dict.fromkeys(kind(one) for one in kinds))
    match value.get("type"):
        case "array":
            of = kind(value.get("items", {}))
            shown = f"list of {PLURALS.get(of, of)}"
        case "object":
            shown = shown or "table"
        case "integer":
            low, high = value.get("minimum"), value.get("maximum", UNBOUNDED)
            shown = f"integer from {low}" + ("" if high == UNBOUNDED else f" to {high}")
        case "string":
            pattern = value.get("pattern", "")
            shown = next((name for unit, name in QUANTITIES.items() if unit in pattern), "text")
        case str(other):
            shown = other
    return shown or "any"


UNBOUNDED = 2**32 - 1


def _names() -> Iterator[Explanation]:
    """Policies, profiles, receivers, detectors, measures, scenarios, experiments."""
    for policy in _rtolab.policies():
        name, question = policy["name"], policy["question"]
        first = question in {"recovery", "profile"}
        example = name if first else f"sack+{name}"
        asks = listing.QUESTIONS.get(question, question)
        yield Explanation(
            name,
            "profile of a sender" if question == "profile" else "policy of a sender",
            f"{policy['about']}. {asks}",
            source=policy["source"],
            example=f"rtolab run stall --sender {example}",
            parts=_behaviours(policy["behaviours"]),
        )
    for receiver in _rtolab.receivers():
        example = f'receiver.profile = "{receiver["name"]}"'
        parts = _behaviours(receiver["behaviours"])
        yield Explanation(
            receiver["name"],
            "receiver",
            receiver["about"],
            "",
            "",
            receiver["source"],
            example,
            parts,
        )
    for detector in _rtolab.detectors():
        example = f"rtolab run stall --judge {detector['name']}"
        yield Explanation(
            detector["name"], "detector", detector["about"], "", "", detector["source"], example
        )
    document = listing.document(listing.Kind.MEASURES)
    for measure in document["measures"]:
        yield Explanation(
            measure["name"], "measure", measure["about"], measure["unit"], source=measure["source"]
        )
    for scenario in listing.document(listing.Kind.SCENARIOS)["scenarios"]:
        example = f"rtolab run {scenario['name']}"
        yield Explanation(scenario["name"], "scenario", scenario["title"], example=example)
    for experiment in listing.document(listing.Kind.EXPERIMENTS)["experiments"]:
        example = f"rtolab reproduce {experiment['id']}"
        yield Explanation(
            experiment["id"],
            "experiment",
            experiment["title"],
            source=experiment["source"],
            example=example,
        )


def _words() -> Iterator[Explanation]:
    """The words of a diagnosis."""
    for name, (kind, about, source) in WORDS.items():
        example = "rtolab diagnose slow.pcapng"
        yield Explanation(name, kind, about, source=source, example=example)


def _behaviours(behaviours: Sequence[Any]) -> dict[str, str]:
    return {behaviour["about"]: behaviour["source"] for behaviour in behaviours}


def _columns() -> Iterator[Explanation]:
    """The tables of runs, and their columns."""
    for table, about, columns in tables():
        parts = {column: of_column(table, column) for column, _ in columns}
        yield Explanation(table, "table", about, parts=parts)
        for column, type_ in columns:
            unit = next((unit for end, unit in UNITS.items() if column.endswith(end)), "")
            unit = "bytes" if BYTES.fullmatch(column) else unit
            about_column = f"{of_column(table, column)} A column of the table {table}."
            shown = ", ".join(filter(None, (type_, unit)))
            example = f'rtolab.run("stall").{table}["{column}"]'
            for name in (f"{table}.{column}", column):
                yield Explanation(name, "column", about_column, shown, example=example)


@cache
def tables() -> tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...]:
    """Each table of a run: its name, its description, its columns with their types."""
    import polars as pl  # noqa: PLC0415

    from rtolab.result import TABLES, Result  # noqa: PLC0415
    from rtolab.run import find_scenario  # noqa: PLC0415

    names = {pl.String: "text", pl.Boolean: "boolean", pl.Null: "nothing"}

    def shown(type_: pl.DataType) -> str:
        if type_.is_integer():
            return "integer"
        return names.get(type_.base_type(), "number" if type_.is_numeric() else str(type_).lower())

    def columns(name: str) -> tuple[tuple[str, str], ...]:
        schema = pl.DataFrame(outcome.table(name)).schema
        return tuple((column, shown(type_)) for column, type_ in schema.items())

    outcome = _rtolab.simulate(find_scenario("stall"), seeds=[])
    return tuple((name, getattr(Result, name).__doc__ or "", columns(name)) for name in TABLES)
