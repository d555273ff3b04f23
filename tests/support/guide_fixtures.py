"""The site of the guide, which tests build once."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from prerequisites import lack
from program import execute
from webassembly import prerequisites

ROOT = Path(__file__).parents[2]
NOTICE = "The guide has pictures in place of live figures: "
"""What the build says without the tools that compile the engine."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the site."""
    folder = tmp_path_factory.mktemp("site")
    build = (sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder)
    done = execute(*build, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "" or done.stderr.startswith(NOTICE)
    return folder


@pytest.fixture(scope="session")
def live_site(site: Path) -> Path:
    """The site, if it has live figures."""
    if missing := prerequisites():
        lack(missing)
    return site
