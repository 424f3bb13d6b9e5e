"""Units that people write after a number, and what they are made of."""

from typing import Final

Unit = tuple[str, tuple[float, ...]]
"""What is measured, and what one of it is in the base unit; several where people differ."""


def _bytes() -> dict[str, Unit]:
    found: dict[str, Unit] = {"b": ("bytes", (1.0,)), "byte": ("bytes", (1.0,))}
    names = ("kilo", "mega", "giga", "tera", "peta")
    for power, (letter, name) in enumerate(zip("kmgtp", names, strict=True), 1):
        both = (1000.0**power, 1024.0**power)
        for written in (f"{letter}b", f"{name}byte"):
            found[written] = ("bytes", both)
        for written in (f"{letter}ib", f"{name[:2]}bibyte"):
            found[written] = ("bytes", both[1:])
        for written in (f"{letter}bit", f"{letter}bit/s", f"{letter}bps"):
            found[written] = ("bits", (1000.0**power,))
    return found


_TABLE: Final[dict[str, dict[str, float]]] = {
    "percent": {"%": 1, "percent": 1, "per cent": 1, "prozent": 1, "pct": 1, "‰": 0.1},
    "seconds": {
        "ns": 1e-9, "nanosecond": 1e-9, "µs": 1e-6, "μs": 1e-6, "us": 1e-6, "microsecond": 1e-6,
        "ms": 1e-3, "msec": 1e-3, "millisecond": 1e-3, "s": 1, "sec": 1, "second": 1,
        "sekunde": 1, "sekunden": 1, "秒": 1, "min": 60, "minute": 60, "minuten": 60, "分钟": 60,
        "h": 3600, "hr": 3600, "hour": 3600, "stunde": 3600, "stunden": 3600, "小时": 3600,
        "day": 86_400, "tag": 86_400, "tage": 86_400, "天": 86_400, "week": 604_800,
        "woche": 604_800, "wochen": 604_800,
    },
    "months": {"month": 1, "monat": 1, "monate": 1, "year": 12, "yr": 12, "jahr": 12, "jahre": 12},
    "metres": {
        "nm": 1e-9, "µm": 1e-6, "μm": 1e-6, "mm": 1e-3, "cm": 0.01, "m": 1, "meter": 1, "metre": 1,
        "km": 1e3, "kilometer": 1e3, "kilometre": 1e3, "mile": 1609.344, "mi": 1609.344,
        "ft": 0.3048, "foot": 0.3048, "feet": 0.3048, "inch": 0.0254, "inches": 0.0254,
        "yard": 0.9144, "公里": 1e3, "米": 1,
    },
    "metres a second": {"m/s": 1, "km/h": 1 / 3.6, "mph": 0.44704},
    "grams": {
        "mg": 1e-3, "g": 1, "gram": 1, "kg": 1e3, "kilogram": 1e3, "t": 1e6, "tonne": 1e6,
        "lb": 453.59237, "pound": 453.59237, "oz": 28.349523,
    },
    "hertz": {"hz": 1, "khz": 1e3, "mhz": 1e6, "ghz": 1e9},
    "watts": {"mw": 1e-3, "w": 1, "watt": 1, "kw": 1e3, "kilowatt": 1e3, "gw": 1e9},
    "degrees Celsius": {"°c": 1, "℃": 1, "celsius": 1},
    "degrees Fahrenheit": {"°f": 1, "℉": 1, "fahrenheit": 1},
    "pixels": {"px": 1, "pixel": 1},
    "dollars": {"$": 1, "us$": 1, "usd": 1, "dollar": 1, "cent": 0.01},
    "euros": {"€": 1, "eur": 1, "euro": 1},
    "pounds sterling": {"£": 1, "gbp": 1},
    "yen or yuan": {"¥": 1, "jpy": 1, "yen": 1, "cny": 1, "rmb": 1, "yuan": 1, "円": 1, "元": 1},
    "rupees": {"₹": 1, "inr": 1, "rupee": 1},
}  # fmt: skip
_UNITS: Final[dict[str, Unit]] = _bytes() | {
    name: (what, (float(size),)) for what, names in _TABLE.items() for name, size in names.items()
}
MULTIPLIERS: Final = {
    "thousand": 1e3, "tsd": 1e3, "tausend": 1e3, "千": 1e3, "万": 1e4, "萬": 1e4,
    "lakh": 1e5, "mn": 1e6, "mio": 1e6, "million": 1e6, "millionen": 1e6, "crore": 1e7,
    "亿": 1e8, "億": 1e8, "bn": 1e9, "mrd": 1e9, "billion": 1e9, "milliarden": 1e9, "兆": 1e12,
    "trillion": 1e12,
}  # fmt: skip
"""Words after a number that make it larger."""
LETTERS: Final = {"k": 1e3, "m": 1e6, "b": 1e9}
"""Letters right after a number that do; small m and b only with a currency before."""


def unit_of(word: str) -> Unit | None:
    """What a word measures; None when it is no unit."""
    written = word.casefold().rstrip(".")
    known = _UNITS.get(written)
    if known is None and len(written) > 3 and written.endswith("s"):
        known = _UNITS.get(written[:-1])
    if known is None and "/" in written:
        base, _slash, per = written.partition("/")
        part = _UNITS.get(base)
        known = part and (f"{part[0]} a {per}", part[1])
    return known
