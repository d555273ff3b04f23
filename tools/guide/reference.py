"""Generated reference pages of the guide.

    python tools/guide/reference.py

writes them to `docs/reference/`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from commands import commands
from rtolab import _rtolab
from rtolab.cli import explain, listing
from rtolab.cli.columns import of_column

Schema = dict[str, Any]

FIRST = ("title", "duration", "link", "flow")


def pages() -> dict[str, str]:
    """All pages as Markdown, by path."""
    makers = {
        "scenario": ("Keys of a scenario", _scenario),
        "senders": ("Senders", _senders),
        "receivers": ("Receivers", _receivers),
        "detectors": ("Detectors", _detectors),
        "measures": ("Measures", _measures),
        "tables": ("Tables", _tables),
        "scenarios": ("Included scenarios", _scenarios),
        "cli": ("The command line", _cli),
    }
    return {
        f"reference/{name}.md": "\n".join((f"# {title}\n", *make())) + "\n"
        for name, (title, make) in makers.items()
    }


def _row(*cells: object) -> str:
    return "| " + " | ".join(_cell(str(cell)) for cell in cells) + " |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield ""
    yield _row(*head)
    yield _row(*("---" for _ in head))
    for row in rows:
        yield _row(*row)
    yield ""


def _paragraphs(texts: Iterable[str]) -> Iterator[str]:
    yield "\n\n".join(fill(text, 100, break_on_hyphens=False) for text in texts)


def _code(text: object) -> str:
    return f"`{text}`" if text != "" else ""


# The keys of a scenario.


def _scenario() -> Iterator[str]:
    yield "On this page you look up every key of a scenario. Keys in **bold** are required."
    yield "`--set` takes dotted keys, with the name of a host, link or flow"
    yield "(`link.wireless.delay`). An omitted key has the default that its meaning names, and"
    yield "otherwise no effect. `rtolab schema` prints the same as a JSON Schema for editors."
    yield ""
    schema = json.loads(_rtolab.schema())
    yield from _paragraphs([schema.get("description", "")])
    yield from _object("", schema, {})


def _object(path: str, schema: Schema, seen: dict[str, str]) -> Iterator[str]:
    """A table of keys, then the tables within it; each table appears once."""
    inner: list[tuple[str, Schema]] = []
    rows, words = [], []
    for key, value in sorted(schema["properties"].items(), key=lambda item: _sort_key(item[0])):
        kind = explain.kind(value)
        for table in list(explain.within(value))[:1]:
            here = ".".join(filter(None, (path, key))) + "[]" * (value.get("type") == "array")
            first = seen.setdefault(json.dumps(table["properties"], sort_keys=True), here)
            if first == here:
                inner.append((here, table))
            else:
                kind = f"{kind}, as `{first}`"
        shown = f"**`{key}`**" if key in schema.get("required", ()) else _code(key)
        rows.append((shown, kind, value.get("description", ""), _examples(value)))
        words += [(_code(key), _code(word), about) for word, about in explain.choices(value)]
    if path:
        yield f"## `{path}`"
        yield ""
        yield from _paragraphs([schema.get("description", "")])
    yield from _table(("key", "value", "meaning", "example"), rows)
    if words:
        yield from _table(("key", "choice", "meaning"), words)
    for here, table in inner:
        yield from _object(here, table, seen)


def _sort_key(key: str) -> int:
    """The sort key of a scenario key: links precede flows and hosts, which have parts of them."""
    return FIRST.index(key) if key in FIRST else len(FIRST)


def _examples(value: Schema) -> str:
    return ", ".join(_code(json.dumps(example)) for example in value.get("examples", ()))


# Senders, receivers, detectors, measures.


def _senders() -> Iterator[str]:
    yield from _paragraphs(listing.SPECIFICATIONS.split("\n\n"))
    policies = _rtolab.policies()
    for question in dict.fromkeys((*listing.QUESTIONS, *(p["question"] for p in policies))):
        of_it = [policy for policy in policies if policy["question"] == question]
        yield f"\n## {listing.QUESTIONS.get(question, question)}"
        rows = [(_code(p["name"]), p["about"], p["source"]) for p in of_it]
        yield from _table(("name", "what it is", "source"), rows)
    yield "\n## What the profiles set"
    for policy in (policy for policy in policies if policy["behaviours"]):
        yield f"\n### `{policy['name']}`"
        yield from _behaviours(policy["behaviours"])


def _receivers() -> Iterator[str]:
    yield "On this page you choose a value for `receiver.profile` of a scenario. Each section"
    yield "lists how the profile differs from the defaults of the other keys."
    for receiver in _rtolab.receivers():
        yield f"\n## `{receiver['name']}`\n"
        yield from _paragraphs([f"{receiver['about']} ({receiver['source']})."])
        yield from _behaviours(receiver["behaviours"])


def _behaviours(behaviours: Sequence[Any]) -> Iterator[str]:
    yield from _table(("what it does", "source"), [(q["about"], q["source"]) for q in behaviours])


def _detectors() -> Iterator[str]:
    yield "On this page you choose passive detectors for `--judge`. You can also [write your"
    yield "own](../detector.md). The [senders](senders.md) page lists those that a sender may"
    yield "act on."
    rows = [(_code(d["name"]), d["about"], d["source"]) for d in _rtolab.detectors()]
    yield from _table(("name", "decides by", "source"), rows)


def _measures() -> Iterator[str]:
    yield "On this page you look up the measures of the papers. `rtolab.measures` defines each"
    yield "once."
    measures = listing.document(listing.Kind.MEASURES)["measures"]
    rows = [(_code(m["name"]), m["unit"], m["about"], m["source"]) for m in measures]
    yield from _table(("name", "unit", "meaning", "source"), rows)


def _scenarios() -> Iterator[str]:
    yield "On this page you choose a scenario. `rtolab run NAME` runs it; its file is a start"
    yield "for your own. The numbers of a `published` one are those of its source, or marked as"
    yield "assumed in the file; those `drawn by hand` are illustrative, in part at least. For a"
    yield "path of today, [measure or import one](../measure.md)."
    scenarios = listing.document(listing.Kind.SCENARIOS)["scenarios"]
    link = "[`{name}`](../../scenarios/{name}.toml)"
    rows = [(link.format(name=s["name"]), s["title"], s["origin"]) for s in scenarios]
    yield from _table(("name", "what it is", "origin"), rows)


# The tables of runs.


def _tables() -> Iterator[str]:
    yield "On this page you look up the tables of a run: polars frames in Python, Parquet files"
    yield "with `--out`. Every table begins with `run` (counted from 0: all seeds of the first"
    yield "sender, then of the second), `seed` and `sender`. Columns in `_s` are seconds, in `_bps`"
    yield "bits per second. Windows, lengths and sequence numbers are bytes; sequence numbers count"
    yield "from the SYN, which is 0."
    for name, about, columns in explain.tables():
        yield f"\n## `{name}`\n\n{about}"
        rows = [(_code(column), type_, of_column(name, column)) for column, type_ in columns]
        yield from _table(("column", "type", "meaning"), rows)


# The command line.


def _cli() -> Iterator[str]:
    yield "On this page you look up commands and options. Every command has `--help`; those that"
    yield "print results have `--json`. Exit status: 0 on success, 1 if a check fails, 2 on"
    yield "invalid input."
    for command in commands():
        yield f"\n## `rtolab {command.name}`\n"
        yield f"```text\nrtolab {command.name} {command.usage}\n```\n"
        yield from _paragraphs(command.about)
        rows = [(_code(names), meaning) for names, meaning in command.parameters]
        yield from _table(("parameter", "meaning"), rows)
        if command.examples:
            examples = "\n".join(command.examples)
            yield f"For example:\n\n```text\n{examples}\n```"


if __name__ == "__main__":
    for name, text in pages().items():
        (Path(__file__).parents[2] / "docs" / name).write_text(text, encoding="utf-8")
