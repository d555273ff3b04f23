import pytest

from recorded_results import SCENARIOS, columns, hashes, recorded


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_results_are_as_recorded_on_another_machine(scenario: str) -> None:
    assert hashes(scenario, columns()) == recorded()[scenario]
