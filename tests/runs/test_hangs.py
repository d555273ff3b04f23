"""Transfers end in spite of outages and handovers, on many seeds."""

import os

import polars as pl
import pytest

from rtolab import run

SEEDS = int(os.environ.get("RTOLAB_SEEDS", "1000"))
"""The number of runs of all tests together; `make soak` tries more."""
SENDERS = (
    "newreno:careful+frto",
    "sack+frto",
    "sack+eifel:rfc3522+full",
    "sack+dsack:linux",
    "sack+dualrtt",
    "rack",
    "rfc9002",
    "rfc9002:quic-go+undo",
    "linux",
    "sack+backoff:linear",
    "newreno+backoff:new-ack",
    "linux+backoff:2s",
    "smoltcp",
    "linux+bbr",
    "linux+bbr3",
)
PLACES = {
    "frto2002-outages": {},
    "ack-outage": {"duration": "1000 s"},
    "lte-handover": {"duration": "1000 s", "flow.download.bytes": "20 MB"},
    "mobile-ip": {"duration": "1000 s", "flow.download.bytes": "5 MB"},
    "gprs-reselection": {"duration": "1000 s"},
}
RUNS = max(1, SEEDS // (len(SENDERS) * len(PLACES)))


@pytest.mark.parametrize("sender", SENDERS)
@pytest.mark.parametrize("place", PLACES)
def test_no_transfer_hangs(place: str, sender: str) -> None:
    done = run(place, sender=sender, runs=RUNS, seed=1, set=PLACES[place])
    tcp = done.connections.filter(pl.col("bytes") > 0)
    assert tcp.height >= RUNS
    assert tcp.filter(~pl.col("completed"))["seed"].to_list() == []
