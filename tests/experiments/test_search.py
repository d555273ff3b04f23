"""The search for settings of unstated assumptions."""

from io import StringIO

import pytest
from rich.console import Console

from rtolab._rtolab import Error
from rtolab.experiments import find
from rtolab.experiments.reproduce import reproduce
from rtolab.experiments.search import search
from rtolab.tables.reproduced import search as tables

BEFORE = {"link.path.rate": "50 kbit/s", "tcp.rto.sample_handshake": "false"}
"""Earlier assumptions about Table II, without its handshake."""


@pytest.mark.slow
def test_a_search_finds_the_rate_and_the_handshake_of_table_ii() -> None:
    (table,) = find(["dualrtt2004/table2"])
    done = search(table, seed=1, assume=BEFORE)
    best = done.found[0]
    assert dict(best.choice) == {"the rate": "46.8 kbit/s", "the handshake": "timed"}
    assert set(done.failing) - set(best.passes) == {"ACK at 52.704, measured - printed, ms"}
    assert (best.breaks, best.seeds, best.neighbours) == ((), None, (0, 4))


@pytest.mark.slow
def test_statistics_are_repeated_with_other_seeds() -> None:
    (table,) = find(["dualrtt2004/table4-sessions"])
    done = search(table, seed=1, runs=5, assume={"tcp.rto.sampling": "every-ack"})
    assert done.failing
    assert all(one.seeds is not None for one in done.found)


def test_an_experiment_without_unstated_assumptions() -> None:
    (table,) = find(["frto2002/table1"])
    with pytest.raises(Error, match="declares no assumptions to vary"):
        search(table, seed=1)


@pytest.mark.slow
def test_a_search_varies_one_system_and_omits_pairs_that_add_nothing() -> None:
    (figure,) = find(["delays2001/fig6"])
    done = search(figure, seed=1)
    both = {tuple(one.choice.items()) for one in done.found if set(one.passes) == set(done.failing)}
    name = "the largest timeout of FreeBSD"
    assert both == {((name, "6 s"),), ((name, "8 s"),)}
    assert all(one.with_another == (11, 13) for one in done.found if len(one.choice) == 1)
    printed = StringIO()
    Console(file=printed, width=200).print(tables(done))
    lines = [line.strip() for line in printed.getvalue().splitlines()]
    assert f"{name}: 6 s or 8 s" in lines


def test_a_ratio_to_zero_timeouts_is_undefined() -> None:
    (figure,) = find(["arq2002/fig9"])
    none = {"link.wireless.loss": "0", "link.wireless.bad.loss": "0", "link.wireless.arq": "[]"}
    done = reproduce(figure, seed=1, runs=1, instead=none | {"tcp.rto.min": "2 s"})
    assert {check.measured for check in done.checks} == {None}
