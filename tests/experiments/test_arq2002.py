"""Local retransmissions: the paper's experiments, on the simulator itself."""

from dataclasses import replace

import pytest

from reproductions import failed, medians, set_in
from rtolab import Error
from rtolab.experiments import find
from rtolab.experiments.arq2002 import EXPERIMENTS
from rtolab.experiments.arq2002.endpoints import CLAIM, FIG7
from rtolab.experiments.arq2002.metrics import crossing
from rtolab.experiments.arq2002.network import (
    LAN,
    LINK,
    PERS,
    RENO,
    SET,
    UPLOAD,
    WAN,
    Case,
    Setting,
    is_overtaken,
)
from rtolab.experiments.arq2002.stated import step
from rtolab.experiments.arq2002.timer import EQUATION, FIG8, rto_before
from rtolab.experiments.arq2002.tolerance import FIG11
from rtolab.experiments.arq2002.variants import FIG3
from rtolab.experiments.base import Experiment
from rtolab.experiments.reproduce import reproduce
from rtolab.stats import Estimate

SIMULATED = [experiment for experiment in EXPERIMENTS if experiment.variants]
SHORT = {"duration": "16 s", "measure.to": "16 s"}


def only_at(experiment: Experiment, per: float) -> Experiment:
    """The experiment with the variants of one error rate only, without checks and figures."""
    variants = tuple(v for v in experiment.variants if isinstance(v, Case) and v.setting.per == per)
    return replace(experiment, variants=variants, checks=(), figures=(), derive=None)


def test_ids_are_the_papers() -> None:
    ids = {experiment.id for experiment in EXPERIMENTS}
    figures = {f"arq2002/fig{number}" for number in range(2, 12)}
    assert figures | {"arq2002/eq", "arq2002/claim", "arq2002/claim-2"} <= ids
    assert [experiment.id for experiment in find(["arq2002"])] == [e.id for e in EXPERIMENTS]


@pytest.mark.parametrize("experiment", SIMULATED, ids=lambda e: e.id)
def test_every_variant_is_accepted_and_measured(experiment: Experiment) -> None:
    unjudged = replace(experiment, checks=(), derive=None)
    done = reproduce(unjudged, runs=1, seed=1, assume=SHORT)
    measured = {row.variant.key for row in done.rows if row.measured is not None}
    assert measured == {variant.key for variant in experiment.variants}


@pytest.mark.parametrize("experiment", SIMULATED, ids=lambda e: e.id)
def test_variants_of_one_condition_run_in_one_setting(experiment: Experiment) -> None:
    settings: dict[tuple[str, str], dict[str, str]] = {}
    for variant in experiment.variants:
        where = (variant.scenario, variant.condition)
        assert settings.setdefault(where, dict(variant.set)) == dict(variant.set)
    keys = [variant.key for variant in experiment.variants]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("name", [LAN, WAN, LINK, UPLOAD])
def test_a_scenario_has_the_assumed_values(name: str) -> None:
    keys = {assumption.name: assumption.value for assumption in SET if assumption.is_key}
    assert len(keys) > 3
    for key, value in keys.items():
        found = set_in(name, key)
        said = str(found).lower() if isinstance(found, bool) else str(found)
        assert said == value, key


@pytest.mark.parametrize("per", PERS)
def test_the_states_average_to_the_error_rate(per: float) -> None:
    setting = Setting(per, "arq")
    assert (10 * setting.good_errors + setting.bad_errors) / 11 == pytest.approx(per)
    assert 0 <= setting.bad_errors <= 100


def test_an_impossible_error_rate_is_refused() -> None:
    impossible = RENO.on(Setting(0.01, "arq"))
    fig7 = replace(FIG7, variants=(impossible,), checks=(), figures=())
    with pytest.raises(Error, match="loss"):
        reproduce(fig7, runs=1, seed=1)


def test_three_packets_overtake_a_local_retransmission_on_long_links_only() -> None:
    assert not is_overtaken(Setting(1, "arq", 10))
    assert is_overtaken(Setting(1, "arq", 10), payload=256)
    assert is_overtaken(Setting(1, "arq", 50))
    assert not is_overtaken(Setting(1, "arq", 10, rate=144))


@pytest.mark.parametrize("experiment", [EQUATION, FIG8], ids=lambda e: e.id)
def test_arithmetic_is_exact(experiment: Experiment) -> None:
    assert reproduce(experiment, runs=1, seed=1).verdict == "pass"


def test_a_smaller_weight_changes_the_timeout() -> None:
    assert rto_before(1) == 3.0
    assert rto_before(61, g3=3) < 1.0 < rto_before(61, g3=4)


def test_a_level_is_crossed_from_below() -> None:
    assert crossing((1.0, 4.0), (0.0, 10.0), 5.0) == pytest.approx(2.0)
    assert crossing((1.0, 4.0), (0.0, 4.0), 5.0) is None
    assert crossing((1.0, 2.0, 4.0), (9.0, 1.0, 3.0), 2.0) == pytest.approx(2 * 2**0.5)


@pytest.mark.slow
def test_the_endpoints_behave_as_the_paper_says() -> None:
    done = reproduce(FIG7, runs=10, seed=1)
    (beyond,) = failed(done)
    assert beyond.startswith("dupacks, arq over drop, PER 10 %")


def swapped(experiment: Experiment) -> Experiment:
    """The experiment with the results with and without local retransmission exchanged."""
    keys = {"arq": "drop", "drop": "arq"}
    variants = []
    for case in experiment.variants:
        assert isinstance(case, Case)
        other = replace(case.setting, local=keys[case.setting.local])  # type: ignore[arg-type]
        own = {k: v for k, v in case.set.items() if k != "link.wireless.arq"}
        extra = {k: v for k, v in other.keys().items() if k == "link.wireless.arq"}
        variants.append(replace(case, set=own | extra))
    return replace(experiment, variants=tuple(variants))


@pytest.mark.slow
def test_swapped_links_fail_checks() -> None:
    assert len(failed(reproduce(swapped(FIG7), runs=10, seed=1))) == len(FIG7.checks)


def timeouts_with(restart: str) -> float:
    """Timeouts per 100 acknowledged segments, at 100 ms and a PER of 10 %."""
    far = (RENO.on(Setting(10, "arq", 100)),)
    claim = replace(CLAIM, variants=far, checks=(), figures=(), derive=None)
    done = reproduce(claim, runs=10, seed=1, assume={"tcp.rto.restart_on_retransmit": restart})
    (found,) = medians(done, "timeouts_100").values()
    return found


def test_a_fast_retransmit_restarts_the_timer_as_in_ns_2() -> None:
    assert timeouts_with("true") < 0.8 * timeouts_with("false")


def test_d_sack_helps_if_the_receiver_reports_it() -> None:
    done = reproduce(only_at(FIG11, 1.0), runs=4, seed=1)
    drop, arq, adapts, undoes = medians(done, "acked").values()
    assert min(adapts, undoes) > 1.3 * arq > 1.3 * drop
    _, arq, adapts, undoes = medians(done, "rexmits").values()
    assert max(adapts, arq) < undoes
    mute = reproduce(only_at(FIG11, 1.0), runs=4, seed=1, assume={"receiver.sack": "false"})
    _, arq, adapts, undoes = medians(mute, "acked").values()
    assert max(adapts, undoes) < 1.1 * arq


def test_a_step_within_the_scatter_is_no_fall() -> None:
    assert step(Estimate(1.0, 0.0, 2.0), Estimate(2.0, 1.0, 3.0)) > 0
    assert step(Estimate(1.0, 0.9, 1.1), Estimate(2.0, 1.9, 2.1)) < 0


def test_figure_3_has_the_lowest_error_rate_that_its_claim_names() -> None:
    lossless = {case.setting.per for case in FIG3.variants if case.setting.local == "arq"}  # type: ignore[attr-defined]
    assert min(lossless) == 0.1
