"""The report of results written by hand."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rtolab import report
from rtolab.campaign import Figure, Files, Part, Settings
from rtolab.experiments.base import (
    Alternative,
    Assumption,
    Experiment,
    Judgement,
    Metric,
    Table,
    Value,
    Variant,
)
from rtolab.experiments.explanation import Demonstration
from rtolab.experiments.reproduce import Reproduction, Row
from rtolab.experiments.sensitivity import AlternativeResult, CheckComparison
from rtolab.stats import Estimate, Summary

TIME = Metric("time", "<Time>", "s", lambda _: pl.Series(), digits=1)
LOST = Metric("lost", "Lost", "", lambda _: pl.Series())
SACK, RENO = Variant("sack", "<SACK>"), Variant("reno", "Reno", condition="late")
PASSED = Judgement("a < b", "exact", "at most <3>", 2.5, (2.0, 3.0), "pass", basis="paper")
FAILED = replace(
    PASSED,
    verdict="fail",
    why="The queue is <small>",
    shown_by=Demonstration("rtolab run 'a'", "8 < 9"),
    fitted="the loss",
)
OURS = replace(PASSED, kind="count", basis="ours", measured=None, interval=None)
EXPERIMENT = Experiment(
    "frto2002/table1",
    "The <title>",
    "F-RTO, section 5",
    (),
    says="It <falls>",
    did="We ran it. ",
    note="Why?",
    scenario="tail",
    variants=(SACK, RENO),
    metrics=(TIME, LOST),
    aliases=("frto2002/<fig1>", "frto2002/fig2"),
)


def summary(median: float, n: int = 3) -> Summary:
    known = {"n": n, "median": median, "q1": median - 1, "q3": median + 1}
    names = Summary.__dataclass_fields__
    return Summary(**{name: known.get(name, 0.0) for name in names})  # type: ignore[arg-type]


ROWS = (
    Row(SACK, TIME, 94.04, summary(93.96), None),
    Row(SACK, LOST, None, summary(7.0, 2), None),
    Row(RENO, TIME, None, summary(50.0, 1), None),
    Row(RENO, LOST, None, None, None),
)


def done(experiment: Experiment = EXPERIMENT, **given: object) -> Reproduction:
    made = Reproduction(experiment, 3, 7, (), (), (), (), (), (), 1.234)
    return replace(made, **given)  # type: ignore[arg-type]


def section(reproduction: Reproduction, *figures: Figure, **settings: int) -> str:
    """The section of an experiment, without ends of lines."""
    part = Part(reproduction, Settings(**settings), figures, Files())  # type: ignore[arg-type]
    return (
        report.page([part]).partition("<section ")[2].partition("</section>")[0].replace("\n", "")
    )


def cells(*texts: object) -> str:
    return "<tr>" + "".join(f"<td>{text}</td>" for text in texts) + "</tr>"


def heads(*names: str) -> str:
    return "<thead><tr>" + "".join(f"<th>{name}</th>" for name in names) + "</tr></thead>"


def verdict(name: str) -> str:
    return f'<span class="verdict {name.replace(" ", "-")}">{name}</span>'


def test_a_section_says_what_was_done() -> None:
    found = section(done(), seed=7, runs=3)
    assert found == (
        'id="frto2002/table1"><span id="frto2002/&lt;fig1&gt;"></span>'
        '<span id="frto2002/fig2"></span>'
        f"<h3>The &lt;title&gt; {verdict('nothing to judge')}</h3>"
        "<p><code>frto2002/table1</code>: F-RTO, section 5."
        '3 runs a variant, seeds from 7, <span class="wall">1.23 s</span>.</p>'
        "<p><b>The paper:</b> It &lt;falls&gt;.</p><p><b>Here:</b> We ran it.</p>"
        "<p><b>Note:</b> Why?</p>"
        '<p class="again">Alone: <code>rtolab reproduce frto2002/table1 --seed 7 --runs 3'
        "</code></p>"
    )
    ours = section(done(replace(EXPERIMENT, ours=True, says=""), runs=1, quick=True))
    assert "section 5. An extension of ours: the paper does not have it.1 run a variant, " in ours
    assert "seeds from 7, as --quick has it, <span" in ours
    assert "<b>The paper:</b>" not in ours
    trace = section(done(replace(EXPERIMENT, shown=(0.0, 1.0))))
    assert "One run a variant, seed 7, <span" in trace
    assert "Nothing is simulated, <span" in section(done(replace(EXPERIMENT, variants=())))


def test_measured_values_stand_beside_published_ones() -> None:
    found = section(done(rows=ROWS))
    assert (
        '<div class="wide"><table class="numbers"><thead><tr><th rowspan="2">Variant</th>'
        '<th colspan="2">&lt;Time&gt; (s)</th><th colspan="1">Lost</th></tr>'
        "<tr><th>published</th><th>measured</th><th>measured</th></tr></thead><tbody>"
        + cells(
            "&lt;SACK&gt;",
            "94.0",
            '<b>94.0</b><br><span class="spread">93.0 to 95.0</span>',
            '<b>7</b><br><span class="spread">6 to 8, n = 2</span>',
        )
        + cells("Reno, late", "", "<b>50.0</b>", "none")
        + "</tbody></table></div>"
    ) in found
    assert "<details" not in found


def test_tables_and_derived_values_are_laid_out() -> None:
    derived = (
        Value("a", "<Gain>", Estimate(1.5, 1.25, 1.75), 2.0, "ms"),
        Value("b", "Count", 3.0, digits=0),
        Value("c", "Share", None),
    )
    table = Table("<Shares>", ("a", "b"), (("<x>", 0.5), ("y", None)))
    found = section(done(tables=(table,), derived=derived))
    wide = '<div class="wide">'
    assert (
        f'<p>&lt;Shares&gt;.</p>{wide}{wide}<table class="numbers">{heads("a", "b")}<tbody>'
        f"{cells('&lt;x&gt;', '50.0')}{cells('y', 'none')}</tbody></table></div></div>"
        f'{wide}<table class="numbers">{heads("Worked out", "published", "here")}<tbody>'
        + cells(
            "&lt;Gain&gt; (ms)",
            "2.00",
            '<b>1.50</b><br><span class="spread">95 %: 1.25 to 1.75</span>',
        )
        + cells("Count", "", "<b>3</b>")
        + cells("Share", "", "none")
        + "</tbody></table></div>"
    ) in found


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (1.00675, 1.0055, 1.0085, "1.007 (95 %: 1.006 to 1.008)"),
        (1.0, 0.9996, 1.0004, "1 (95 %: 1 to 1)"),
        (0.24834, 0.2, 0.31, "0.2483 (95 %: 0.2 to 0.31)"),
        (123.456, 123.44, 123.47, "123.5 (95 %: 123.4 to 123.5)"),
        (8765.4, 8765.2, 12345.6, "8765 (95 %: 8765 to 12346)"),
        (12345.6, 9999.7, 12355.0, "1.235e+04 (95 %: 1e+04 to 1.236e+04)"),
        (0.0, 0.0, 0.12345, "0 (95 %: 0 to 0.1235)"),
        (-2.0064, -2.0136, 0.5, "-2.006 (95 %: -2.014 to 0.5)"),
        (3.0, 2.0, math.inf, "3 (95 %: 2 to inf)"),
    ],
)
def test_an_interval_has_the_decimals_of_its_value(
    value: float, low: float, high: float, text: str
) -> None:
    assert replace(PASSED, measured=value, interval=(low, high)).measured_text() == text


def test_no_interval_excludes_its_value_in_print() -> None:
    draws = np.random.default_rng(1)
    for _ in range(2000):
        value = float(draws.choice([-1, 1]) * 10 ** draws.uniform(-6, 6))
        low, high = (value + side * abs(value) * 10 ** draws.uniform(-6, 1) for side in (-1, 1))
        said = replace(PASSED, measured=value, interval=(low, high)).measured_text()
        found = re.fullmatch(r"(\S+) \(95 %: (\S+) to (\S+)\)", said)
        assert found
        shown, below, above = map(float, found.groups())
        assert below <= shown <= above, said


def test_a_check_of_several_runs_names_its_statistic() -> None:
    several = replace(PASSED, statistic="medians")
    assert several.measured_text() == "2.5 (medians; 95 %: 2 to 3)"
    assert replace(several, interval=None).measured_text() == "2.5 (medians)"


def test_checks_have_their_basis_and_their_cause() -> None:
    found = section(done(checks=(PASSED, FAILED, OURS)))
    value = "2.5 (95 %: 2 to 3)"
    names = heads("Claim", "Basis", "Kind", "Expected", "Measured", "Verdict")
    why = '<tr class="why"><td colspan="6">'
    name, expected = "a &lt; b", "at most &lt;3&gt;"
    assert (
        "<details open><summary>Checks: 1 of 2 of the paper&#x27;s checks pass, 0 of 1 fitted, 1 "
        f'of 1 ours</summary><div class="wide"><table>{names}<tbody>'
        + cells(name, "the paper", "exact", expected, value, verdict("pass"))
        + cells(name, "the paper, fitted", "exact", expected, value, verdict("fail"))
        + f"{why}The queue is &lt;small&gt;.</td></tr>"
        f"{why}Shown by <code>rtolab run &#x27;a&#x27;</code>: 8 &lt; 9.</td></tr>"
        f"{why}Chosen after the result was seen: the loss.</td></tr>"
        + cells(name, "ours", "count", expected, "nothing", verdict("pass"))
        + "</tbody></table></div></details>"
    ) in found
    assert "<details><summary>Checks: 1 of 1 of" in section(done(checks=(PASSED,)))
    hopeless = section(done(checks=(replace(PASSED, verdict="not reproducible"),)))
    assert "<details open>" in hopeless


def test_assumptions_and_alternatives_are_shown() -> None:
    assumptions = (
        Assumption("link.<a>", "<1>", stated=True, why="it <says>"),
        Assumption("<host>", "<2>", stated=False, why="usual", is_key=False),
    )
    alternatives = (
        AlternativeResult(
            Alternative("<other>", {"a": "<1>", "b": "2"}, "some do"),
            1,
            (CheckComparison("pass", FAILED, "fail"), CheckComparison("pass", PASSED, "pass")),
        ),
        AlternativeResult(
            Alternative("same", {"a": "1"}), 2, (CheckComparison("pass", PASSED, "pass"),)
        ),
    )
    found = section(done(assumptions=assumptions, alternatives=alternatives))
    wide = '<div class="wide"><table>'
    assert (
        "<details><summary>Assumptions: 1 stated by the paper, 1 assumed</summary>"
        f"{wide}{heads('Key', 'Value', 'Stated?', 'Why')}<tbody>"
        + cells(
            *("<code>link.&lt;a&gt;</code>", "<code>&lt;1&gt;</code>", "stated", "it &lt;says&gt;")
        )
        + cells("&lt;host&gt;", "&lt;2&gt;", "assumed", "usual")
        + "</tbody></table></div></details>"
    ) in found
    change = (
        "<ul><li>a &lt; b: <b>pass becomes fail</b>, measured 2.5 (95 %: 2 to 3), expected at most "
        "&lt;3&gt;</li></ul>"
    )
    assert (
        "<details><summary>Other assumptions: 1 of 2 change a verdict</summary>"
        f"{wide}{heads('Alternative', 'Checks', 'Verdicts that change')}<tbody>"
        + cells(
            "<b>&lt;other&gt;</b><br>some do.<br><code>a=&lt;1&gt;, b=2</code>",
            "1 of 2 checks keep their verdict, 1 change; 1 run",
            change,
        )
        + cells(
            "<b>same</b><br><code>a=1</code>",
            "1 of 1 checks keep their verdict, 0 change; 2 runs",
            "none",
        )
        + "</tbody></table></div></details>"
    ) in found


def test_figures_have_captions() -> None:
    found = section(done(), Figure("one", "<caption>", "AAAA"), Figure("two", "b", "BBBB"))
    assert (
        '<figure><div class="chart"><script type="application/gzip">AAAA</script></div>'
        "<figcaption>&lt;caption&gt;</figcaption></figure><figure>"
    ) in found


def test_the_contents_list_papers_and_sum_up_their_checks() -> None:
    other = replace(EXPERIMENT, id="arq2002/table1", title="Other", aliases=(), variants=())
    undecided = replace(PASSED, verdict="undecidable", kind="shape")
    reproductions = (
        done(checks=(PASSED, FAILED, OURS)),
        done(other, checks=(undecided,)),
        done(replace(EXPERIMENT, id="frto2002/table2", aliases=())),
    )
    parts = [Part(one, Settings(), (), Files()) for one in reproductions]
    text = report.page(parts).replace("\n", "")
    frto = (
        '<tr><th colspan="5"><a href="#frto2002">F-RTO: A New Recovery Algorithm for TCP '
        "Retransmission Timeouts</a></th></tr>"
        + cells(
            '<a href="#frto2002/table1">frto2002/table1</a>, &lt;fig1&gt;, fig2',
            *("The &lt;title&gt;", 3),
            "1 of 2 of the paper&#x27;s checks pass, 0 of 1 fitted, 1 of 1 ours",
            verdict("fail"),
        )
        + cells(
            '<a href="#frto2002/table2">frto2002/table2</a>',
            *("The &lt;title&gt;", 3, "nothing to judge", verdict("nothing to judge")),
        )
    )
    assert frto in text
    assert '<tr><th colspan="5"><a href="#arq2002">TCP Performance' in text
    assert (
        cells(
            '<a href="#arq2002/table1">arq2002/table1</a>',
            *(
                "Other",
                "",
                "0 of 1 of the paper&#x27;s checks pass, 1 cannot be decided by 3 runs",
                verdict("undecidable"),
            ),
        )
        in text
    )
    assert (
        '<header class="paper" id="arq2002"><h2>TCP Performance and Behaviors with Local '
        "Retransmissions</h2><p>Pan, Mark, Shen, University of Waterloo, 2002</p>"
        "<h3>Printed inconsistencies</h3><ul><li>"
    ) in text
    order = [text.index(f'<section id="{one.experiment.id}">') for one in reproductions]
    assert order[0] < order[2] < order[1]
    table = text.partition('<table class="numbers checks">')[2].partition("</table>")
    names = re.findall("<th>(.*?)</th>", table[0])
    assert names[:2] == ["Paper", "Experiments"]
    body = [
        dict(zip(names, re.findall("<td>(.*?)</td>", row), strict=True))
        for row in re.findall("<tr>(<td>.*?)</tr>", table[0])
    ]
    first, second, every = body
    assert first["Paper"] == '<a href="#frto2002">frto2002</a>'
    assert (first["Experiments"], second["Experiments"], every["Experiments"]) == ("2", "1", "3")
    assert (first["exact"], second["exact"], every["shape"]) == ("1 of 2", "", "0 of 1")
    assert [(row["before"], row["after"], row["the paper's"]) for row in body] == [
        ("1 of 1", "0 of 1", "<b>1 of 2</b>"),
        ("0 of 1", "", "<b>0 of 1</b>"),
        ("1 of 2", "0 of 1", "<b>1 of 3</b>"),
    ]
    assert (first["fail"], first["undecidable"], second["undecidable"]) == ("1", "", "1")
    assert (first["ours"], every["Paper"], every["unstated"]) == ("1 of 1", "all", "")
    assert table[2].startswith(
        "</div><p>Their causes: 1 demonstrated by a command, 0 not known, 0 reasoned, not "
        "demonstrated.</p>"
    )


@pytest.mark.parametrize("folder", ["new", "new/folder"])
def test_a_report_replaces_an_older_one(folder: str, tmp_path: Path) -> None:
    parts = [Part(done(), Settings(), (), Files())]
    for _ in range(2):
        file = report.write(parts, tmp_path / folder)
        assert file == tmp_path / folder / "report.html"
        assert file.read_text(encoding="utf-8") == report.page(parts)
