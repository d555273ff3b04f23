"""The widths of texts in the font of figures, which SVG files carry to viewers without that font.

Liberation Sans has the widths of Helvetica and Arial (Adobe Font Metrics 4.1, Helvetica and
Helvetica-Bold; other signs as measured in Liberation Sans 2.1).
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

REGULAR = {
    191: "'",
    222: "ijl\u2018\u2019",
    260: "|",
    278: " !,./:;I[\\]ft",
    333: "()-`r·“”²",
    334: "{}",
    355: '"',
    389: "*",
    400: "°",
    469: "^",
    500: "Jcksvxyz",
    549: "±≤≥",
    556: "#$0123456789?L_abdeghnopqu\u2013",
    576: "µ",
    584: "+<=>~\u00d7\u2212",
    611: "FTZ",
    667: "&ABEKPSVXY",
    722: "CDHNRUw",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1000: "—…→",
    1015: "@",
}
"""Signs by width, in thousandths of the font size."""
BOLD = {
    238: "'",
    278: " ,./I\\ijl\u2018\u2019",
    280: "|",
    333: "!()-:;[]`ft·²",
    389: "*r{}",
    400: "°",
    474: '"',
    500: "z“”",
    549: "±≤≥",
    556: "#$0123456789J_aceksvxy\u2013",
    576: "µ",
    584: "+<=>^~\u00d7\u2212",
    611: "?FLTZbdghnopqu",
    667: "EPSVXY",
    722: "&ABCDHKNRU",
    778: "GOQw",
    833: "M",
    889: "%m",
    944: "W",
    975: "@",
    1000: "—…→",
}
KERNED_11 = -74, -55
"""The pair that labels of axes have most, regular and bold."""
UNKNOWN = 600
FONTS = ("Liberation Sans", "sans-serif")
"""The first font of texts that the renderer draws with these widths."""
TEXT = re.compile(r"<text (?P<looks>[^>]*)>(?P<text>[^<]+|(?:<tspan[^>]*>[^<]*</tspan>)+)</text>")
LINE = re.compile(r"<tspan(?P<looks>[^>]*)>(?P<text>[^<]*)</tspan>")
FAMILY = re.compile(r'font-family="([^",]*)')
SIZE = re.compile(r'font-size="([\d.]+)px"')


def _by_sign(widths: Mapping[int, str]) -> dict[str, int]:
    return {sign: width for width, signs in widths.items() for sign in signs}


SIGNS = (_by_sign(REGULAR), _by_sign(BOLD))


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of a text in the unit of its font size; about, if it has unknown signs."""
    signs = SIGNS[bold]
    kerned = KERNED_11[bold] * (len(text) - len(re.sub("1(?=1)", "", text)))
    return (sum(signs.get(sign, UNKNOWN) for sign in text) + kerned) * size / 1000


def with_widths(svg: str) -> str:
    """An SVG whose texts are as wide in any viewer as the renderer has drawn them.

    Texts in other fonts than that of figures stay as they are, and so do those with signs whose
    widths are not known.
    """
    return TEXT.sub(_with_width, svg)


def _with_width(found: re.Match[str]) -> str:
    looks, text = found["looks"], found["text"]
    family, size = FAMILY.search(looks), SIZE.search(looks)
    if family is None or size is None or family[1] not in FONTS:
        return found[0]
    em, bold = float(size[1]), 'font-weight="bold"' in looks

    def line(part: re.Match[str]) -> str:
        fixed = _fixed(part["text"], em, bold=bold)
        return f"<tspan{part['looks']}{fixed}>{part['text']}</tspan>"

    if LINE.match(text):
        return f"<text {looks}>{LINE.sub(line, text)}</text>"
    return f"<text {looks}{_fixed(text, em, bold=bold)}>{text}</text>"


def _fixed(escaped: str, size: float, *, bold: bool) -> str:
    """The attributes that give a text its width, if that is known."""
    text = html.unescape(escaped)
    if len(text) < 2 or not all(sign in SIGNS[bold] for sign in text):
        return ""
    width = f"{text_width(text, size, bold=bold):.2f}".rstrip("0").rstrip(".")
    return f' textLength="{width}" lengthAdjust="spacingAndGlyphs"'
