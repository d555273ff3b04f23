"""Extensions of Wireshark: fields and colours of an annotated capture, and live verdicts."""

import os
import stat
import sys
from pathlib import Path

from rtolab._rtolab import Error
from rtolab.files import write_text

HERE = Path(__file__).parent
PLUGIN = HERE / "rtolab.lua"
PROFILE = ("colorfilters", "preferences")
EXTCAP = "rtolab-watch"
"""The program that Wireshark starts for live verdicts; see `extcap.py`."""
OURS = ("-- rtolab: ", "# rtolab: ")
"""How the files that we write begin. When the user changes the profile, Wireshark writes its files
without this line."""


def install(to: Path | None = None) -> tuple[list[Path], list[Path]]:
    """Write the plugin and the profile `rtolab` where Wireshark looks for them.

    Args:
        to: a configuration folder of Wireshark, in place of the user's.

    Returns:
        The files that were written, and those of a profile that its user has changed, which stay.

    Raises:
        Error: there is a plugin of that name that is not ours.
    """
    plugins, configuration = (to / "plugins", to) if to else _personal()
    # Wireshark 4.2 and later look beside the plugins, earlier ones beside the configuration.
    programs = {folder / "extcap" / EXTCAP for folder in (plugins.parent, configuration)}
    plugin = plugins / PLUGIN.name
    if not _is_replaceable(plugin):
        raise Error(f"{plugin}: this file is not rtolab's; move it, or choose a folder with --to")
    profile = configuration / "profiles" / "rtolab"
    targets = {plugin: PLUGIN} | {profile / name: HERE / "profile" / name for name in PROFILE}
    texts = {path: source.read_text(encoding="utf-8") for path, source in targets.items()}
    if sys.platform == "linux":  # Elsewhere there is nothing to watch.
        texts |= dict.fromkeys(sorted(programs), _program())
    kept = [path for path in texts if not _is_replaceable(path)]
    written = [path for path in texts if path not in kept]
    for path in written:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, texts[path])
        if path in programs:
            path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return written, kept


def _personal() -> tuple[Path, Path]:
    """The user's folders of Lua plugins and of configuration, as Wireshark finds them."""
    if sys.platform == "win32":
        configuration = Path(os.environ.get("APPDATA", Path.home() / "AppData/Roaming"))
        return configuration / "Wireshark" / "plugins", configuration / "Wireshark"
    configuration = Path(os.environ.get("XDG_CONFIG_HOME", Path.home() / ".config"))
    return Path.home() / ".local/lib/wireshark/plugins", configuration / "wireshark"


def _program() -> str:
    """The text of the program for live verdicts: it runs with this Python."""
    return (
        f"#!{sys.executable}\n"
        "# rtolab: packets of an interface with verdicts, written by `rtolab wireshark --install`\n"
        "from rtolab.wireshark.extcap import main\n\n"
        "main()\n"
    )


def _is_replaceable(path: Path) -> bool:
    """Is there no such file, or one that we wrote?"""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return True
    if text.startswith("#!"):
        text = text.partition("\n")[2]
    return text.startswith(OURS)
