"""The checks that fail or are not reproducible in `rtolab reproduce`, as they were recorded.

After a change of results, `rtolab reproduce --json > all.json` and then
`python tests/support/missed_checks.py all.json` record them again.
"""

import json
import sys
from functools import cache
from pathlib import Path

FILE = Path(__file__).parents[1] / "missed_checks.json"
MISSED = ("fail", "not reproducible")


@cache
def missed() -> dict[str, dict[str, str]]:
    """The verdicts of the missed checks, by experiment and name of the check."""
    found: dict[str, dict[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def record(documents: Path) -> None:
    """Write the file again, from what `rtolab reproduce --json` printed."""
    found: dict[str, dict[str, str]] = {}
    for one in json.loads(documents.read_text(encoding="utf-8")):
        verdicts = {check["name"]: check["verdict"] for check in one["checks"]}
        mine = {name: verdict for name, verdict in verdicts.items() if verdict in MISSED}
        found |= {one["experiment"]: mine} if mine else {}
    FILE.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record(Path(sys.argv[1]))
