"""Scenarios drawn at random from the schema, with any keys and policies, and each key alone."""

import json
import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any

from rtolab import _rtolab

LINK, END, FLOW, INNER = 0.08, 0.1, 0.06, 0.4
"""The chance of a key: of a link, of a sender or receiver, of a flow, and of a table in these."""
POLICY = 0.15
"""The chance of a policy beside loss recovery, for each question that policies answer."""
FILES = ("file", "rate_trace", "light_trace", "delay_trace", "stage")
"""Keys whose values name files, or code in Python."""
SHAPE = (
    "name",
    "set",
    "split",
    "between",
    "from",
    "to",
    "profile",
    "sender",
    "agent",
    "route",
    "emulation",
)
"""Keys that are the same in all scenarios, or are drawn otherwise."""
COMPANIONS: dict[str, dict[str, Any]] = {
    "bad": {"states": {"good": {"exponential": "2 s"}, "bad": {"exponential": "500 ms"}}},
    "states": {"bad": {"loss": 0.2}},
    "red": {"queue": "60 packets"},
    "spikes": {"send_buffer": "20 packets"},
    "jitter_correlation": {"jitter": {"uniform": ["0 ms", "40 ms"]}},
    "loss_memory": {"loss": 0.05},
    "priority": {"rate": "400 kbit/s"},
    "heartbeat_phase": {"ack_delay": "heartbeat"},
}
"""What a key needs beside it, unless it is there."""
WORKLOADS = {"datagrams", "requests", "pages", "on_off", "bytes"}
"""The keys of which a flow has one."""
REPEATED = ("forward", "backward", "access")
"""Keys whose tables have the keys of a link."""
UNITS = {
    "bit/s": (30, 30_000, "kbit/s"),
    "packets?": (2, 80, "packets"),
    "kB": (400, 65_000, "B"),
    "ms": (1, 4000, "ms"),
}
"""The range of a quantity and how it is written, by a unit that its pattern names."""

Schema = dict[str, Any]


class Drawing:
    """Draws values for the keys of a schema. The same seed gives the same, anywhere.

    Each key has a generator of its own, so that a new key leaves the other keys as they are.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def random(self, path: str) -> Random:
        return Random(f"{self.seed} {path}")

    def value(self, schema: Schema, path: str) -> Any:
        """A value that the schema accepts; `None` if it has only keys that name files."""
        random = self.random(path)
        if alternatives := schema.get("oneOf", schema.get("anyOf")):
            if any("exponential" in one.get("properties", ()) for one in alternatives):
                return law(random)
            chosen = random.randrange(len(alternatives))
            return self.value(alternatives[chosen], f"{path}|{chosen}")
        kind = "const" if "const" in schema else schema["type"]
        draw: dict[str, Callable[[], Any]] = {
            "const": lambda: schema["const"],
            "boolean": lambda: random.random() < 0.5,
            "integer": lambda: whole(schema, random),
            "number": lambda: fraction(schema, random),
            "array": lambda: self.items(schema, path, random),
            "object": lambda: self.table(schema, path),
            "string": lambda: quantity(schema, random),
        }
        return draw[kind]()

    def items(self, schema: Schema, path: str, random: Random) -> list[Any] | None:
        """A list; its numbers and quantities ascend."""
        low, high = schema.get("minItems", 1), min(schema.get("maxItems", 3), 3)
        count = random.randint(low, max(low, high))
        found = [self.value(schema["items"], f"{path}[{index}]") for index in range(count)]
        if any(one is None for one in found):
            return None
        return sorted(found, key=in_order)

    def table(self, schema: Schema, path: str, chance: float = INNER) -> dict[str, Any] | None:
        """A table with all keys that it needs, and some that it may have."""
        found = {}
        for key, of in schema.get("properties", {}).items():
            if key in FILES or key in SHAPE:
                continue
            here = f"{path}.{key}"
            is_needed = key in schema.get("required", ())
            if is_needed or self.random(f"{here}?").random() < chance:
                value = self.value(of, here)
                if value is not None:
                    found[key] = value
                elif is_needed:
                    return None
        return found or None

    def sender(self) -> list[str]:
        """The policies of a sender specification."""
        policies: dict[str, list[str]] = {}
        for one in _rtolab.policies():
            policies.setdefault(one["question"], []).append(one["name"])
        random = self.random("sender")
        chosen = [random.choice(policies.pop("recovery"))]
        profiles = policies.pop("profile")
        if random.random() < 0.25:
            chosen = [random.choice(profiles)]
        rest = (random.choice(names) for names in policies.values() if random.random() < POLICY)
        return [*chosen, *rest]


def between(random: Random, low: float, high: float) -> float:
    """A number between two, with a logarithm that is uniform."""
    return math.exp(math.log(low) + random.random() * math.log(high / low))


def law(random: Random) -> dict[str, Any]:
    """A random length of time."""
    length, longer = sorted(between(random, 1, 4000) for _ in range(2))
    least, most = f"{length:.0f} ms", f"{longer + 1:.0f} ms"
    laws: list[dict[str, Any]] = [
        {"constant": least},
        {"exponential": least},
        {"uniform": [least, most]},
        {"lognormal": {"median": least, "sigma": 0.7}},
        {"gamma": {"mean": least, "deviation": least}},
        {"pareto": {"minimum": least, "shape": 1.5}},
        {"empirical": {"values": [least, most], "interpolate": random.random() < 0.5}},
    ]
    return random.choice(laws)


def whole(schema: Schema, random: Random) -> int:
    """A whole number, rather a small one."""
    low = schema.get("minimum", 0)
    return round(between(random, max(low, 1), max(min(schema.get("maximum", 100), 100), 1)))


def fraction(schema: Schema, random: Random) -> float:
    """A number, rather a small one."""
    low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    high = min(schema.get("maximum", 100), 100)
    return float(f"{low + (high - low) * random.random() ** 2:.4f}")


def quantity(schema: Schema, random: Random) -> str | None:
    """A quantity with a unit; `None` for other text."""
    for unit, (low, high, written) in UNITS.items():
        if unit in schema.get("pattern", ""):
            return f"{between(random, low, high):.0f} {written}"
    return None


def in_order(value: Any) -> tuple[float, str]:
    """Where a value of a list belongs: by its time if it is a table."""
    if isinstance(value, dict):
        return in_order(value.get("at", 0))
    if isinstance(value, str):
        return float(value.split()[0]), value
    return float(value), ""


@cache
def schema() -> Schema:
    """The schema of scenarios."""
    found: Schema = json.loads(_rtolab.schema())
    return found


def scenario(seed: int) -> str:
    """The scenario with this number: one or two links, one to three flows, any keys."""
    drawing = Drawing(seed)
    random = drawing.random("scenario")
    tables = schema()["properties"]
    link, flow = tables["link"]["items"], tables["flow"]["items"]
    hosts = ["near", "middle", "far"] if random.random() < 0.3 else ["near", "far"]
    lines = [f'title = "Drawn scenario {seed}"', 'duration = "60 s"']
    for number, ends in enumerate(pairwise(hosts)):
        drawn = drawing.table(link, f"link{number}", LINK) or {}
        values = {
            "rate": f"{between(random, 100, 20_000):.0f} kbit/s",
            "delay": f"{between(random, 0.5, 300):.1f} ms",
            **({"loss": round(between(random, 0.001, 0.08), 4)} if random.random() < 0.5 else {}),
            **accompanied(drawn),
        }
        lines += written("[[link]]", {"name": f"link{number}", "between": list(ends), **values})
    for name in ("tcp", "receiver"):
        drawn = drawing.table(tables[name], name, END) or {}
        lines += written(f"[{name}]", accompanied(drawn))
    for number in range(random.choice([1, 1, 2, 3])):
        drawn = drawing.table(flow, f"flow{number}", FLOW) or {}
        size = {} if WORKLOADS & drawn.keys() else {"bytes": f"{between(random, 5, 1500):.0f} kB"}
        values = {"name": f"flow{number}", "from": hosts[0], "to": hosts[-1], **size, **drawn}
        lines += written("[[flow]]", values)
    return "\n".join(lines) + "\n"


def accompanied(values: dict[str, Any]) -> dict[str, Any]:
    """A table with what its keys need beside them."""
    for key in [*values]:
        values = COMPANIONS.get(key, {}) | values
    return values


def written(heading: str, values: dict[str, Any]) -> Iterator[str]:
    """A table of a scenario, with its inner tables in one line each."""
    yield ""
    yield heading
    for key, value in values.items():
        yield f"{key} = {inline(value)}"


def inline(value: Any) -> str:
    """A value in TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {inline(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(inline, value))}]"
    return json.dumps(value)


def each_key() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each key of links, flows, senders and receivers, and what a scenario is given for it."""
    places = {
        "link.path": schema()["properties"]["link"]["items"],
        "flow.transfer": schema()["properties"]["flow"]["items"],
        **{name: schema()["properties"][name] for name in ("tcp", "receiver")},
    }
    seen: set[str] = set()
    for place, table in places.items():
        # The same tables are keys of links and of their directions, of which these come last.
        for key, of in sorted(table["properties"].items(), key=lambda one: one[0] in REPEATED):
            name = f"{place}.{key}"
            for path, values in inside(of, name, seen, lambda value: value):
                beside = {f"{place}.{one}": its for one, its in COMPANIONS.get(key, {}).items()}
                yield path, [{**beside, name: value} for value in values]


def inside(
    of: Schema, path: str, seen: set[str], outermost: Callable[[Any], Any]
) -> Iterator[tuple[str, list[Any]]]:
    """A key and those inside of its value, with values of the outermost key.

    Args:
        seen: what was shown, as the same tables are the values of many keys.
        outermost: the value of the outermost key, by that of this one.
    """
    yield path, [outermost(value) for value in candidates(of, path)]
    text = json.dumps(of, sort_keys=True)
    if text in seen:
        return
    seen.add(text)
    alternatives: list[Schema] = of.get("oneOf") or of.get("anyOf") or [of]
    for one in alternatives:
        if "items" in one:
            yield from inside(one["items"], f"{path}[]", seen, lambda value: outermost([value]))
        needed = Drawing(0).table(one, path, 0) or {}
        for key, inner in one.get("properties", {}).items():

            def beside(value: Any, key: str = key, needed: dict[str, Any] = needed) -> Any:
                return outermost({**needed, key: value})

            yield from inside(inner, f"{path}.{key}", seen, beside)


def candidates(of: Schema, path: str) -> list[Any]:
    """Values of a key that are right, at the border, or wrong."""
    right = [*of.get("examples", ()), *(Drawing(seed).value(of, path) for seed in range(2))]
    right += [one["const"] for one in of.get("oneOf", ()) if "const" in one]
    zero = [f"0 {unit}" for _, _, unit in UNITS.values() if unit in of.get("pattern", "")]
    wrong: dict[str, list[Any]] = {
        "boolean": [1],
        "integer": [0, -1, 2, 0.5, 1e10, "2"],
        "number": [0, -0.5, 1, 1.5, 1e10, "1"],
        "string": ["", "5 apples", 5, "-1 ms", *zero],
        "array": [[], {}, [1]],
    }
    tables = [{}, {"x": 1}, 1]
    found = [*right, *wrong.get(of.get("type", ""), tables)]
    return [value for value in found if value is not None]
