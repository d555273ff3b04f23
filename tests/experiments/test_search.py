"""The search for settings of unstated assumptions."""

import pytest

from rtolab._rtolab import Error
from rtolab.experiments import find
from rtolab.experiments.search import search

BEFORE = {"link.path.rate": "50 kbit/s", "tcp.rto.sample_handshake": "false"}
"""What was assumed of Table II before the handshake was thought of."""


def test_a_search_finds_the_rate_and_the_handshake_of_table_ii() -> None:
    (table,) = find(["dualrtt2004/table2"])
    done = search(table, seed=1, assume=BEFORE)
    best = done.found[0]
    assert dict(best.choice) == {"the rate": "46.8 kbit/s", "the handshake": "timed"}
    assert set(done.failing) - set(best.passes) == {"ACK at 52.704, measured - printed, ms"}
    assert (best.breaks, best.seeds, best.neighbours) == ((), None, (0, 4))


def test_statistics_are_repeated_with_other_seeds() -> None:
    (table,) = find(["dualrtt2004/table4-sessions"])
    done = search(table, seed=1, runs=5, assume={"tcp.rto.sampling": "every-ack"})
    assert done.failing
    assert all(one.seeds is not None for one in done.found)


def test_an_experiment_without_unstated_assumptions() -> None:
    (table,) = find(["frto2002/table1"])
    with pytest.raises(Error, match="declares no assumptions to vary"):
        search(table, seed=1)
