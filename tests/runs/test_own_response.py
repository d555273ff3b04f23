"""Responses written in Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rtolab
from rtolab import PrototypeError, Response, ResponseAction
from rtolab.run import included_scenarios

if TYPE_CHECKING:
    from rtolab._rtolab import ResponseContext

NAMES = '[tcp]\nresponse = "python-full"'
SCENARIOS = ["frto2002-delays", "stall", "lte-handover"]


class Half(Response):
    """`half`, as crates/tcp/src/response.rs has it."""

    name = "python-half"

    def on_spurious(self, context: ResponseContext) -> ResponseAction | None:
        return ResponseAction(cwnd=context.now.ssthresh, grow=True)


def spared(context: ResponseContext) -> ResponseAction | None:
    """The answer of responses that restore the windows, if the windows must not be restored."""
    if context.losses_under_way:
        return ResponseAction(cwnd=context.smss)
    if context.congestion_echoed or context.cwnd_has_regrown:
        return ResponseAction()
    return None


class Full(Response):
    """`full`."""

    name = "python-full"

    def on_spurious(self, context: ResponseContext) -> ResponseAction | None:
        before = context.before
        return spared(context) or ResponseAction(before.cwnd, before.ssthresh, undo=True)


class Rfc4015(Response):
    """`rfc4015`."""

    name = "python-rfc4015"

    def on_spurious(self, context: ResponseContext) -> ResponseAction | None:
        if context.kind != "timeout":
            return None
        before = context.before
        adapt_from = None
        if before.estimate is not None:
            srtt, rttvar = before.estimate
            adapt_from = (srtt + 2 * context.granularity, rttvar)
        return spared(context) or ResponseAction(
            cwnd=context.now.flight + min(context.acked, context.initial_window),
            ssthresh=max(before.flight, before.ssthresh),
            undo=True,
            adapt_from=adapt_from,
        )


def unnamed(result: rtolab.Result) -> list[pl.DataFrame]:
    tables = [result.connections, result.timeouts, result.verdicts, result.links]
    return [table.drop("sender", "flow_sender", strict=False) for table in tables]


def alike(one: rtolab.Result, other: rtolab.Result) -> bool:
    return all(a.equals(b) for a, b in zip(unnamed(one), unnamed(other), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("response", [Half, Full, Rfc4015])
def test_a_response_in_python_equals_the_same_one_in_rust(
    scenario: str, response: type[Response]
) -> None:
    options: dict[str, Any] = {"runs": 8, "set": {"tcp.timestamps": True}, "judge": ["eifel"]}
    built_in = response.name.removeprefix("python-")
    for sender in ("sack+eifel:{}", "newreno+frto+{}", "linux+{}"):
        own = rtolab.run(
            scenario, sender=sender.format(response.name), prototypes=[response], **options
        )
        theirs = rtolab.run(scenario, sender=sender.format(built_in), **options)
        assert alike(own, theirs), sender


def test_the_state_of_a_response_is_forked_with_the_run_on_any_number_of_threads() -> None:
    class Counts(Response):
        """Responds to every other verdict."""

        def __init__(self) -> None:
            self.requested = 0

        def on_spurious(self, context: ResponseContext) -> ResponseAction | None:
            self.requested += 1
            return (
                ResponseAction(cwnd=context.before.cwnd, grow=True) if self.requested % 2 else None
            )

    results = [
        rtolab.run(
            "frto2002-delays",
            sender=["newreno+frto+counts", "newreno+eifel:counts"],
            runs=6,
            set={"tcp.timestamps": True},
            judge="all",
            what_if="newreno+dualrtt:counts",
            prototypes=[Counts],
            jobs=jobs,
        )
        for jobs in (1, 2)
    ]
    assert alike(*results)
    assert results[0].what_if.equals(results[1].what_if)
    assert set(results[0].connections["sender"]) == {"newreno+frto+counts", "newreno+eifel:counts"}


def test_a_response_may_act_on_a_genuine_timeout() -> None:
    class Cautious(Response):
        """Grows slowly after a genuine timeout."""

        def on_spurious(self, context: ResponseContext) -> ResponseAction | None:
            assert context.detector == "eifel"
            return None

        def on_genuine(self, context: ResponseContext) -> ResponseAction | None:
            assert context.before.cwnd >= context.now.cwnd >= context.smss
            return ResponseAction(ssthresh=2 * context.smss, estimate=(2_000_000_000, 100_000_000))

    options: dict[str, Any] = {"runs": 4, "set": {"tcp.timestamps": True}, "windows": True}
    own = rtolab.run(
        "frto2002-outages", sender="sack+eifel:cautious", prototypes=[Cautious], **options
    )
    plain = rtolab.run("frto2002-outages", sender="sack+eifel:none", **options)
    assert not alike(own, plain)
    assert (own.windows["rto_s"] >= 2.4).any()


def test_a_scenario_may_name_a_response(tmp_path: Path) -> None:
    options: dict[str, Any] = {"runs": 4, "prototypes": [Full], "judge": ["eifel"]}
    senders = {"sack+eifel": "sack+eifel:python-full", "newreno+frto": "newreno+frto+python-full"}
    scenario = tmp_path / "own.toml"
    text = included_scenarios()["stall"].read_text(encoding="utf-8")
    scenario.write_text(text.replace("[tcp]", NAMES), encoding="utf-8")
    for plain, named in senders.items():
        own = rtolab.run(scenario, sender=plain, **options)
        assert alike(own, rtolab.run("stall", sender=named, **options))
        half = rtolab.run("stall", sender=f"{plain}+half", **options)
        assert alike(half, rtolab.run(scenario, sender=f"{plain}+half", **options))
        assert not alike(own, half)
    line = text[: text.index("[tcp]")].count("\n") + 2
    for known, expected in [([], "one of 14"), ([Half], '"python-half"')]:
        found = rf'own\.toml:{line}: tcp\.response: found "python-full"'
        place = f"{found}; expected a prototype of a response, .*{expected}"
        with pytest.raises(rtolab.ScenarioError, match=place):
            rtolab.run(scenario, prototypes=known)


class Raises(Response):
    """Wrong."""

    def on_spurious(self, context: ResponseContext) -> ResponseAction:
        return ResponseAction(cwnd=context.smss // (context.smss - context.smss))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (7, "found 7; expected a ResponseAction"),
        (ResponseAction(cwnd=-1), r"ResponseAction\.cwnd: found -1; expected bytes"),
        (ResponseAction(cwnd=2**50), "cwnd: found .*; expected .* from 0 to 1099511627776, or"),
        (ResponseAction(ssthresh=1.5), r"ResponseAction\.ssthresh: found 1\.5; expected bytes"),  # type: ignore[arg-type]
        (ResponseAction(estimate=(2**60, 1)), r"estimate: found \(.*; expected two integers of n"),
        (ResponseAction(adapt_from=5), "adapt_from: found 5; expected two integers"),  # type: ignore[arg-type]
        (ResponseAction(undo="no"), "undo: found 'no'; expected True or False"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_answer_is_an_error(answer: Any, message: str) -> None:
    class Odd(Response):
        """Returns something else."""

        def on_spurious(self, context: ResponseContext) -> Any:  # noqa: ARG002
            return answer

    place = r"\(.*test_own_response\.py:\d+\)$"
    with pytest.raises(PrototypeError, match=rf"^odd\.on_spurious: .*{message}.*{place}"):
        rtolab.run("stall", sender="newreno+frto+odd", prototypes=[Odd])


def test_an_exception_is_reported_with_its_place() -> None:
    place = r"^raises\.on_spurious: ZeroDivisionError: .*test_own_response\.py:\d+"
    with pytest.raises(PrototypeError, match=place) as raised:
        rtolab.run("stall", sender="newreno+frto+raises", prototypes=[Raises])
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


def test_a_contradictory_sender_is_refused() -> None:
    for sender, message in [
        ("sack+python-full", "needs a detector"),
        ("python-full+sack+eifel", "must begin with its loss recovery"),
        ("sack+eifel:python-full+rfc4015", "names both"),
        ("sack+eifel:python-full+python-half", "names both"),
    ]:
        with pytest.raises(rtolab.SenderError, match=message):
            rtolab.run("stall", sender=sender, prototypes=[Full, Half])
    with pytest.raises(PrototypeError, match=r"expected a subclass of rtolab\.Response with"):
        rtolab.run("stall", prototypes=[Response])
