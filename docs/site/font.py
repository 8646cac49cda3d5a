"""The font of formulas: letters of the STIX fonts that come with matplotlib, and what browsers need to set formulas.

A browser places indices, roots and large brackets by the table MATH of a font. Many computers have no font with one,
and indices then stand on the line. So the site brings its own, made here from the characters that its formulas use.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import matplotlib as mpl
from fontTools.otlLib.builder import buildMathTable
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

NAME = "formulas.woff"
LARGER = ("STIXSizOneSymReg", "STIXSizTwoSymReg", "STIXSizThreeSymReg", "STIXSizFourSymReg")
STRETCHED = "()[]{}⟨⟩√"
PRIME = "\u2032"
AXIS = 250
ITALIC = {letter: 0x1D44E + k for k, letter in enumerate("abcdefghijklmnopqrstuvwxyz")} | {
    letter: 0x1D434 + k for k, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
}
GREEK = {chr(0x3B1 + k): 0x1D6FC + k for k in range(25)} | {chr(0x391 + k): 0x1D6E2 + k for k in range(25)}
OTHERS = {"h": 0x210E, "\u03d5": 0x1D719, "\u03f5": 0x1D716, "\u2202": 0x1D715}  # not in a row with the rest

# in thousandths of the size of letters; proportions of the fonts of TeX
CONSTANTS = {
    "ScriptPercentScaleDown": 70,
    "ScriptScriptPercentScaleDown": 55,
    "DelimitedSubFormulaMinHeight": 1300,
    "DisplayOperatorMinHeight": 1300,
    "MathLeading": 150,
    "AxisHeight": AXIS,
    "AccentBaseHeight": 450,
    "FlattenedAccentBaseHeight": 660,
    "SubscriptShiftDown": 200,
    "SubscriptTopMax": 360,
    "SubscriptBaselineDropMin": 80,
    "SuperscriptShiftUp": 370,
    "SuperscriptShiftUpCramped": 300,
    "SuperscriptBottomMin": 120,
    "SuperscriptBaselineDropMax": 230,
    "SubSuperscriptGapMin": 150,
    "SuperscriptBottomMaxWithSubscript": 380,
    "SpaceAfterScript": 40,
    "UpperLimitGapMin": 130,
    "UpperLimitBaselineRiseMin": 300,
    "LowerLimitGapMin": 130,
    "LowerLimitBaselineDropMin": 600,
    "StackTopShiftUp": 480,
    "StackTopDisplayStyleShiftUp": 580,
    "StackBottomShiftDown": 470,
    "StackBottomDisplayStyleShiftDown": 780,
    "StackGapMin": 200,
    "StackDisplayStyleGapMin": 460,
    "FractionNumeratorShiftUp": 480,
    "FractionNumeratorDisplayStyleShiftUp": 640,
    "FractionDenominatorShiftDown": 470,
    "FractionDenominatorDisplayStyleShiftDown": 640,
    "FractionNumeratorGapMin": 70,
    "FractionNumDisplayStyleGapMin": 150,
    "FractionRuleThickness": 66,
    "FractionDenominatorGapMin": 70,
    "FractionDenomDisplayStyleGapMin": 150,
    "OverbarVerticalGap": 160,
    "OverbarRuleThickness": 66,
    "OverbarExtraAscender": 66,
    "RadicalVerticalGap": 80,
    "RadicalDisplayStyleVerticalGap": 150,
    "RadicalRuleThickness": 66,
    "RadicalExtraAscender": 66,
    "RadicalKernBeforeDegree": 270,
    "RadicalKernAfterDegree": -500,
    "RadicalDegreeBottomRaisePercent": 60,
}


def write_font(text: str, to: Path) -> None:
    """The font of all characters of ``text``, upright and, as single letters are in formulas, italic."""
    wanted = {ord(each) for each in text} | {ord(each) for each in STRETCHED + PRIME + "∑∫ "}
    wanted |= {each[letter] for each in (ITALIC, GREEK, OTHERS) for letter in text if letter in each}
    font = _opened("STIXGeneral")
    options = Options(layout_features=[], name_IDs=[], notdef_outline=True, hinting=False, drop_tables=["kern", "FFTM"])
    cut = Subsetter(options)
    cut.populate(unicodes=wanted)
    cut.subset(font)
    names, glyphs = font.getBestCmap(), font["glyf"]
    variants = {names[ord(each)]: [names[ord(each)]] for each in STRETCHED}
    for size in LARGER:
        source = _opened(size)
        for each in STRETCHED:
            known, name = source.getBestCmap()[ord(each)], f"{names[ord(each)]}.{size}"
            _add(font, name, source["glyf"][known], source["hmtx"][known])
            variants[names[ord(each)]].append(name)
    for each in "∑∫":  # twice as high in displayed formulas, about the axis of fractions
        name = names[ord(each)]
        large = deepcopy(glyphs[name])
        large.coordinates.scale((1.6, 1.6))
        large.coordinates.translate((0, round(-0.6 * (glyphs[name].yMin + glyphs[name].yMax) / 2.0)))
        large.coordinates.toInt()
        width, side = font["hmtx"][name]
        _add(font, f"{name}.display", large, (round(1.6 * width), round(1.6 * side)))
        variants[name] = [name, f"{name}.display"]
    prime = glyphs[names[ord(PRIME)]]  # raised already in the font, and by formulas once more
    prime.coordinates.translate((0, -prime.yMin))
    prime.recalcBounds(glyphs)
    heights = {name: [(each, _height(glyphs[each])) for each in several] for name, several in variants.items()}
    buildMathTable(font, CONSTANTS, extendedShapes=set(variants), vertGlyphVariants=heights)
    font.flavor = "woff"
    font.save(to)


def _opened(name: str) -> TTFont:
    return TTFont(Path(mpl.get_data_path(), "fonts", "ttf", f"{name}.ttf"))


def _add(font: TTFont, name: str, glyph: Any, width: tuple[int, int]) -> None:
    glyph = deepcopy(glyph)
    glyph.expand(font["glyf"])
    if glyph.numberOfContours > 0 and hasattr(glyph, "program"):
        glyph.program.fromBytecode(b"")  # its hints belong to the other font
    font["glyf"][name] = glyph
    glyph.recalcBounds(font["glyf"])
    font["hmtx"][name] = width


def _height(glyph: Any) -> int:
    return int(glyph.yMax - glyph.yMin)
