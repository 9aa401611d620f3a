"""Answers from good to bad keep their order for whoever sees no hues, in light and in dark."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import pairwise

import pytest


def lightness(colour: str) -> float:
    """Relative luminance, as WCAG has it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((lightness(one), lightness(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
def test_the_first_colours_are_ordered_by_lightness(theme: int) -> None:
    style = files("lapsus.reports").joinpath("templates/chart.css").read_text()
    colours = [re.findall(rf"--chart-{name}: (#\w+)", style)[theme] for name in ("0", "1", "2")]
    inside = [re.findall(rf"--chart-{name}: (#\w+)", style)[theme] for name in ("in-0", "in", "in")]
    steps = [lightness(colour) for colour in colours]
    assert steps == sorted(steps, reverse=theme == 0)
    assert all(contrast(one, other) > 1.5 for one, other in pairwise(colours))
    # The figures in the bars can be read.
    assert all(contrast(*pair) >= 4.5 for pair in zip(colours, inside, strict=True))
