"""The engine beside a kernel, and the papers' senders on kernels."""

import pytest

import kernel_runs
import program
import rtolab
from rtolab.emulation import agreement
from rtolab.emulation.comparison import (
    RECEIVER,
    Agreement,
    Pair,
    Transfer,
    _verdict,
    check_medians,
    compare,
)
from rtolab.experiments import find, kernel
from rtolab.run import included_scenarios, run


def transfer(time_s: float | None, retransmissions: int = 0) -> Transfer:
    return Transfer(time_s, retransmissions, 0, 0, 0, 0)


def checks(engine: list[Transfer], kernel: list[Transfer]) -> dict[str, Agreement]:
    both = zip(engine, kernel, strict=True)
    return {check.name: check for check in check_medians([Pair(1, *pair) for pair in both])}


def test_small_differences_of_medians_agree() -> None:
    kernel = [transfer(10.0), transfer(11.0, 5), transfer(30.0, 50)]
    close = [transfer(10.9, 6), transfer(11.5, 7), transfer(99.0, 90)]
    found = checks(close, kernel)
    time = found["time_s"]
    assert (time.engine, time.kernel, time.agrees) == (11.5, 11.0, True)
    assert time.allowed == pytest.approx(0.55)
    assert found["retransmissions"] == Agreement("retransmissions", 7, 5, 2, agrees=True)
    far = [transfer(12.0, 8)] * 3
    found = checks(far, kernel)
    assert not found["time_s"].agrees
    assert not found["retransmissions"].agrees
    assert found["timeouts"].agrees


def test_a_kernel_that_varies_between_runs_is_divided_and_does_not_differ() -> None:
    alike, other = transfer(10.0, 30), transfer(13.0, 50)

    def judged(engine: list[Transfer], kernel: list[Transfer]) -> tuple[str, bool]:
        pairs = [Pair(1, *pair) for pair in zip(engine, kernel, strict=True)]
        found = check_medians(pairs)
        return _verdict(pairs, found), found[0].spread is not None

    # Nothing is random: the engine's runs are all the same.
    assert judged([alike] * 3, [alike, other, other]) == ("divided", True)
    assert judged([alike] * 3, [alike, alike, other]) == ("agree", True)
    assert judged([alike] * 3, [alike] * 3) == ("agree", False)
    assert judged([alike] * 3, [other] * 3) == ("differ", False)
    # In one run the time is the engine's, and in another the count.
    mixed = [transfer(10.0, 50), transfer(13.0, 30), other]
    assert judged([alike] * 3, mixed) == ("differ", True)
    # Where something is random the kernel's runs have reason to differ.
    different = [alike, alike, transfer(10.1, 30)]
    assert judged(different, [alike, other, other]) == ("differ", False)


def test_the_cell_of_a_divided_kernel_shows_the_range_of_its_runs() -> None:
    kernel = [transfer(10.0), transfer(13.0), transfer(13.0)]
    found = checks([transfer(10.0)] * 3, kernel)
    assert agreement.both(found["time_s"]) == "**10.00, 13.00** (10.00 to 13.00)"
    assert agreement.both(found["timeouts"]) == "0, 0"


def test_a_transfer_that_ends_on_one_side_only_differs() -> None:
    assert checks([transfer(None)], [transfer(None)])["time_s"].agrees
    assert not checks([transfer(None)], [transfer(1.0)])["time_s"].agrees


@pytest.mark.usefixtures("hosts")
def test_a_transfer_without_disturbance_is_the_same_on_both() -> None:
    done = compare("kernel-stall", sender="sack", runs=2, parallel=2, set=kernel_runs.SHORT)
    assert [pair.seed for pair in done.pairs] == [1, 2]
    for pair in done.pairs:
        assert pair.kernel.time_s == pytest.approx(pair.engine.time_s, rel=0.2)
        assert pair.kernel.retransmissions == pair.engine.retransmissions == 0
    document = done.document()
    agrees = all(check.agrees for check in done.checks)
    assert document["verdict"] == "undecidable" or (document["verdict"] == "agree") == agrees
    assert document["sender"] == "sack"


def test_every_mapping_is_of_existing_variants() -> None:
    assert len(kernel.MAPPINGS) >= 5
    for name, mapping in kernel.MAPPINGS.items():
        (experiment,) = find([name])
        known = {variant.key for variant in experiment.variants}
        assert {one.key for one in mapping} <= known
        assert all(one.says for one in mapping)
        assert len({one.key for one in mapping}) == len(mapping)
    with pytest.raises(rtolab.Error, match="arq2002"):
        kernel.find("arq2002/table1")


def test_an_experiment_without_a_mapping_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.call(monkeypatch, "reproduce", "arq2002", "--on", "kernel") == 2
    assert "has no senders that a kernel can be set to" in capsys.readouterr().err


@pytest.mark.usefixtures("hosts")
def test_an_experiment_runs_on_kernels_and_on_the_simulator() -> None:
    (experiment,) = find(["delays2001/fig9"])
    short = {"flow.upload.bytes": "5 kB", "link.wireless.rate": "100 kbit/s"}
    done = kernel.on_kernel(experiment, runs=1, parallel=2, instead=short)
    rows = {(line.variant.key, line.metric.name): line for line in done.lines}
    line = rows["linux-2.4", "time"]
    assert line.simulated is not None
    assert line.kernel is not None
    assert line.kernel.median == pytest.approx(line.simulated.median, rel=0.5)
    effective = done.emulated.reports[0]["hosts"][0]["effective"]
    assert effective["tcp_sack"] == effective["tcp_frto"] == "0"
    assert done.document()["rows"]


def test_a_row_has_both_medians_and_shows_what_differs() -> None:
    engine = [transfer(10.0), transfer(11.0, 5), transfer(30.0, 50)]
    kernel = [transfer(10.5, 9), transfer(11.25, 9), transfer(30.0, 9)]
    checked = check_medians([Pair(1, *pair) for pair in zip(engine, kernel, strict=True)])
    row = {check.name: agreement.both(check) for check in checked}
    assert row["time_s"] == "11.00, 11.25"
    assert row["retransmissions"] == "**5, 9**"
    assert row["timeouts"] == "0, 0"
    ended = check_medians([Pair(1, transfer(None), transfer(1.0))])
    assert agreement.both(ended[0]) == "**none, none**"


def test_every_case_has_its_own_name_and_an_existing_scenario() -> None:
    names = [case.name for case in agreement.CASES]
    assert len(set(names)) == len(names) >= 12
    assert {case.scenario for case in agreement.CASES} <= set(included_scenarios())
    rows = agreement.markdown([["hold", "3", *["0, 0"] * 6, "agree"]]).splitlines()
    assert rows[0] == (
        "| link | seeds | time, s | retransmissions | unneeded | timeouts | fast retransmits "
        "| undone |  |"
    )
    assert len(rows) == 3
    assert {row.count("|") for row in rows} == {10}


def test_every_link_of_the_table_can_be_simulated() -> None:
    for case in agreement.CASES:
        done = run(case.scenario, sender="linux", set={**RECEIVER, **case.set})
        assert done.connections["completed"].all(), case.name


@pytest.mark.parametrize("arguments", [[], ["--all", "hold"]])
def test_the_command_needs_scenarios_or_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert program.call(monkeypatch, "compare", *arguments) == 2
    assert "needs scenarios, or --all" in capsys.readouterr().err
