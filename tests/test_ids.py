"""Every row of the list of experiments has an experiment of its id."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from rtolab.experiments import EXPERIMENTS
from rtolab.experiments.papers import PAPERS, paper

LIST = Path(__file__).parents[2] / "shared" / "experiments.md"
PREFIXES = {
    "F-RTO": "frto2002",
    "LRT": "arq2002",
    "MRTO": "minrto2007",
    "DRTT": "dualrtt2004",
    "DLY": "delays2001",
}


def ids(row: str) -> list[str]:
    """The ids that a row of the list stands for."""
    prefix, _, named = row.strip().partition(" ")
    named = re.sub(r"(Fig\d+)a/b", r"\1", named)
    found, kind = [], ""
    for part in re.split(r"\s*[/,]\s*", named):
        kind = re.match(r"[^\d]*", part)[0] or kind  # type: ignore[index]
        found += [f"{PREFIXES[prefix]}/{name}" for name in _names(part, kind)]
    return found


def _names(part: str, kind: str) -> list[str]:
    """`T3x` is `table3x`, `Fig7-9` three figures; a bare number is of the kind before it."""
    part = part if part.startswith(kind) else kind + part
    if span := re.fullmatch(r"Fig(\d+)-(\d+)", part):
        first, last = map(int, span.groups())
        return [f"fig{number}" for number in range(first, last + 1)]
    part = re.sub(r"^T(?=\d)", "table", part.replace("§", "section-"))
    return [part.strip().replace(" ", "-").lower()]


ROWS = [
    ("F-RTO T1 / Fig6", ["frto2002/table1", "frto2002/fig6"]),
    ("F-RTO Fig2a/b", ["frto2002/fig2"]),
    ("F-RTO T3x", ["frto2002/table3x"]),
    ("F-RTO claim-D", ["frto2002/claim-d"]),
    ("MRTO T3/Fig7a", ["minrto2007/table3", "minrto2007/fig7a"]),
    ("MRTO eq6/7", ["minrto2007/eq6", "minrto2007/eq7"]),
    ("DRTT Fig7-9", ["dualrtt2004/fig7", "dualrtt2004/fig8", "dualrtt2004/fig9"]),
    ("DRTT Fig10/11, T6", ["dualrtt2004/fig10", "dualrtt2004/fig11", "dualrtt2004/table6"]),
    ("DRTT T5-phys", ["dualrtt2004/table5-phys"]),
    ("DRTT §V-C", ["dualrtt2004/section-v-c"]),
    ("DLY §6a", ["delays2001/section-6a"]),
    ("DLY §4.1b", ["delays2001/section-4.1b"]),
    ("LRT claim-2", ["arq2002/claim-2"]),
    ("DLY F1", ["delays2001/f1"]),
]


@pytest.mark.parametrize(("row", "expected"), ROWS, ids=lambda value: str(value)[:20])
def test_a_row_names_its_ids(row: str, expected: list[str]) -> None:
    assert ids(row) == expected


def test_every_row_has_an_experiment() -> None:
    if not LIST.exists():
        pytest.skip("the list of experiments is not beside this checkout")
    text = LIST.read_text(encoding="utf-8")
    rows = re.findall(rf"^\| ((?:{'|'.join(PREFIXES)}) [^|]+) \|", text, re.MULTILINE)
    assert len(rows) > 80
    known = {id_ for experiment in EXPERIMENTS for id_ in (experiment.id, *experiment.aliases)}
    missing = [id_ for row in rows for id_ in ids(row) if id_ not in known]
    assert missing == []


def test_an_id_names_one_experiment_of_a_known_paper() -> None:
    named = Counter(id_ for e in EXPERIMENTS for id_ in (e.id, *e.aliases))
    assert [id_ for id_, times in named.items() if times > 1] == []
    assert {id_.split("/")[0] for id_ in named} <= {paper.id for paper in PAPERS}


def test_a_paper_is_known_by_its_id() -> None:
    assert paper("frto2002").year == 2002
    assert paper("another").title == "another"
