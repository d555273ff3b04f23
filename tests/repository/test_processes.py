"""The two processes of the test suite."""

import re
import sys
from pathlib import Path

from conftest import OF_THE_SITE

from program import execute

ROOT = Path(__file__).parents[2]


def test_the_tests_of_a_module_run_in_one_process() -> None:
    modules = ("tests/repository/test_ids.py", "tests/repository/test_cases.py")
    done = execute(sys.executable, "-m", "pytest", "-n", "2", "-v", *modules, cwd=ROOT)
    ran = re.findall(r"^\[(gw\d)\].* PASSED (\S+)::", done.stdout, re.MULTILINE)
    assert len(ran) > len(set(ran)) == 2, done.stdout
    assert {process for process, _ in ran} == {"gw0", "gw1"}


def test_the_modules_that_need_the_site_are_known() -> None:
    needs_site = re.compile(r"^def test\w*\([^)]*\b(live_)?site: Path", re.MULTILINE)
    modules = (ROOT / "tests").rglob("test_*.py")
    assert {one.stem for one in modules if needs_site.search(one.read_text())} == OF_THE_SITE
