"""The names of the suites of `rtolab conform`, apart from what they need to run."""

from enum import StrEnum


class Suite(StrEnum):
    """Which scenarios: a whole suite, or a part of one."""

    FIFTY = "fifty"
    STALLS = "stalls"
    LOSSES = "losses"
    TODAY = "today"

    @property
    def whole(self) -> "Suite":
        """The suite that these scenarios belong to."""
        return Suite.FIFTY if self in PARTS else self

    @property
    def version(self) -> int:
        """The version of the whole suite: scores of different versions cannot be compared."""
        return VERSIONS[self.whole]

    @property
    def label(self) -> str:
        """Name and version of the whole suite."""
        return f"{self.whole.value} {self.version}"


class Keep(StrEnum):
    """The scenarios whose evidence is kept."""

    BROKEN = "broken"
    ALL = "all"
    NONE = "none"


PARTS = {
    Suite.STALLS: "nothing is lost",
    Suite.LOSSES: "packets are lost",
}
"""The parts of the suite `fifty`, and what distinguishes them."""

VERSIONS = {Suite.FIFTY: 2, Suite.TODAY: 2}
"""The versions of the suites. A change that can change a score makes another version."""

ABOUT = {
    Suite.FIFTY: "one path of 2 Mbit/s and 100 ms that stalls, loses, reorders and slows down",
    Suite.TODAY: "paths of 20 Mbit/s to 10 Gbit/s: access, local, data centre, long, satellite, "
    "wireless",
}
"""The suites in one line each."""
