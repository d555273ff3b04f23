"""An hour of the soak of a gateway and a watch on the virtual clock."""

import re
import sys
from pathlib import Path

from guests import require_kernel
from program import environment, execute

SOAK = Path(__file__).parents[2] / "tools" / "soak_virtual.py"


def test_a_gateway_and_a_watch_run_for_an_hour_on_the_virtual_clock() -> None:
    """No transfer fails, and the watch sees each packet of the gateway."""
    require_kernel()
    ended = execute(sys.executable, SOAK, "1", env=environment())
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"1 h: \d{4} connections; 0\.080\d s; gateway ", ended.stdout)
    assert '"timed_out": 0, "idle": 0, ' in ended.stdout
