"""The table of real time beside the virtual clock."""

from clock_pairs import CASES, RealRuns, row, table
from rtolab.emulation.comparison import Transfer
from rtolab.run import find_scenario


def transfer(time_s: float | None, retransmissions: int) -> Transfer:
    """A transfer without timeouts."""
    return Transfer(time_s, retransmissions, 0, 0, 0, 0)


def test_thirty_scenarios_run_on_both_clocks() -> None:
    assert len({case.name for case in CASES}) == 30
    assert all(find_scenario(case.scenario).exists() for case in CASES)


def test_a_row_has_real_time_first_and_marks_differences() -> None:
    real = RealRuns([transfer(10.0, 3)], late_s=0.002, good=False)
    assert RealRuns.read(real.document()) == real
    close = row(CASES[0], real, [transfer(10.4, 5)])
    assert close[1:5] == ["1", "10.00, 10.40", "+4.00", "3, 5"]
    assert close[-2:] == ["2 (doubted)", "agree"]
    far = row(CASES[0], real, [transfer(9.0, 6)])
    assert far[2:5] == ["**10.00, 9.00**", "-10.00", "**3, 6**"]
    assert far[-1] == "differ"
    assert len({line.count("|") for line in table([close, far]).splitlines()}) == 1


def test_a_transfer_without_end_has_no_difference() -> None:
    real = RealRuns([transfer(None, 0)], late_s=0.0, good=True)
    assert row(CASES[0], real, [transfer(None, 0)])[2:4] == ["none, none", ""]
