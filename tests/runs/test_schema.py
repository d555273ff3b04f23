"""The JSON Schema of scenarios, for editors."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

import rtolab
from rtolab import _rtolab
from rtolab.run import included_scenarios

ROOT = Path(__file__).parents[2]
SCHEMA: dict[str, Any] = json.loads(_rtolab.schema())
VALID = (ROOT / "scenarios" / "frto2002-delays.toml").read_text(encoding="utf-8")
LAW = '{ exponential = "3.5 s" }'


def accepts(text: str) -> bool:
    return bool(Draft7Validator(SCHEMA).is_valid(tomllib.loads(text)))


def replaced(part: str, other: str) -> str:
    """The valid scenario with another text in place of the first `part`."""
    text = VALID.replace(part, other, 1)
    assert text != VALID, part
    return text


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ('rate = "28.8', 'raet = "28.8'),
        ("28.8 kbit/s", "200 ms"),
        ("28.8 kbit/s", "-28.8 kbit/s"),
        ("28.8 kbit/s", "28.8"),
        ("7 packets", "0 packets"),
        ("probability = 0.02", "probability = 1.02"),
        (LAW, '"3.5 s"'),
        (LAW, '{ exponential = "3.5 s", constant = "1 s" }'),
        (LAW, '{ uniform = ["1 s"] }'),
        (LAW, '{ lognormal = { median = "1 s" } }'),
        (LAW, '{ lognormal = { median = "1 s", sigma = 0 } }'),
        (LAW, '{ gamma = { mean = "1 s", deviation = 3 } }'),
        (LAW, '{ pareto = { minimum = "1 s", shape = 1001 } }'),
        (LAW, "{ empirical = { values = [] } }"),
        (LAW, '{ empirical = { value = ["1 s"] } }'),
        ('["router", "mobile"]', '["router"]'),
        ('"careful"', '"careful+"'),
        ("dupthresh = 3", "dupthresh = 0"),
        ("k = 4", "k = 4.5"),
        ("title = ", "# title = "),
        ('to = "mobile"', ""),
    ],
)
def test_it_rejects_what_the_reader_rejects(tmp_path: Path, part: str, wrong: str) -> None:
    assert accepts(VALID)
    text = replaced(part, wrong)
    assert not accepts(text)
    file = tmp_path / "x.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(rtolab.Error):
        rtolab.check(file)


@pytest.mark.parametrize(
    "law",
    [
        '{ constant = "1 s" }',
        '{ uniform = ["1 s", "2 s"] }',
        '{ lognormal = { median = "1 s", sigma = 0.5 } }',
        '{ gamma = { mean = "1 s", deviation = "2 s" } }',
        '{ pareto = { minimum = "1 s", shape = 1.5 } }',
        '{ empirical = { values = ["1 s", "2 s"], interpolate = true } }',
        '{ empirical = { file = "jitter.txt" } }',
    ],
)
def test_it_accepts_every_distribution(tmp_path: Path, law: str) -> None:
    text = replaced(LAW, law)
    assert accepts(text)
    (tmp_path / "jitter.txt").write_text("0.1\n0.2\n")
    file = tmp_path / "x.toml"
    file.write_text(text, encoding="utf-8")
    rtolab.check(file)


def test_it_accepts_every_key() -> None:
    everything = ROOT / "crates" / "scenario" / "tests" / "everything.toml"
    assert accepts(everything.read_text(encoding="utf-8"))


def test_it_accepts_each_included_scenario() -> None:
    validator = Draft7Validator(SCHEMA)
    paths = included_scenarios().values()
    assert len(paths) > 40
    for path in paths:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        assert [fault.message for fault in validator.iter_errors(document)] == [], path


def keys(schema: dict[str, Any], key: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema of every key, with its dotted key."""
    for choice in (*schema.get("oneOf", ()), schema, schema.get("items", {})):
        for step, one in choice.get("properties", {}).items():
            yield from keys(one, f"{key}.{step}")
            yield f"{key}.{step}", one


def test_it_describes_every_key_with_valid_examples() -> None:
    Draft7Validator.check_schema(SCHEMA)
    found = list(keys(SCHEMA))
    assert len(found) > 150
    for key, schema in found:
        is_choice = key.endswith(("constant", "uniform", "exponential"))
        assert is_choice or isinstance(schema.get("description"), str), key
        for example in schema.get("examples", ()):
            assert Draft7Validator(schema).is_valid(example), f"{key}: {example}"
        assert "null" not in json.dumps(schema), key
