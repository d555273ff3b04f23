"""What tests share."""

import os
import shutil
from collections.abc import Callable

import pytest

RequireTool = Callable[[str, str], str]


@pytest.fixture(scope="session")
def require_tool() -> RequireTool:
    """Returns the path of a program, or skips the test; with CI set, a missing program fails it.

    The arguments are the program's name and the Debian package that has it.
    """

    def find(name: str, package: str) -> str:
        path = shutil.which(name)
        if path is not None:
            return path
        message = f"{name} is missing; install it:  sudo apt-get install {package}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)

    return find
