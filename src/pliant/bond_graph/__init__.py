"""Bond graphs: what a system exchanges as power, described, computed and drawn.

Components hold elements, junctions and other components (`graph`); laws are formulas as data (`expression`).
Equations are assembled without causality (`flat`, `equations`) and stepped by one compiled loop for all graphs
(`tape`, `step`); causality is assigned to explain (`causality`).
"""

from pliant.bond_graph.arm import Beams as Beams
from pliant.bond_graph.arm import of as of
from pliant.bond_graph.causality import Causality as Causality
from pliant.bond_graph.causality import causality as causality
from pliant.bond_graph.domain import ELECTRIC as ELECTRIC
from pliant.bond_graph.domain import GENERAL as GENERAL
from pliant.bond_graph.domain import HYDRAULIC as HYDRAULIC
from pliant.bond_graph.domain import ROTATION as ROTATION
from pliant.bond_graph.domain import SPATIAL as SPATIAL
from pliant.bond_graph.domain import THERMAL as THERMAL
from pliant.bond_graph.domain import TRANSLATION as TRANSLATION
from pliant.bond_graph.domain import Domain as Domain
from pliant.bond_graph.drawing import Drawing as Drawing
from pliant.bond_graph.drawing import browse as browse
from pliant.bond_graph.drawing import draw as draw
from pliant.bond_graph.elements import GY as GY
from pliant.bond_graph.elements import TF as TF
from pliant.bond_graph.elements import C as C
from pliant.bond_graph.elements import I as I
from pliant.bond_graph.elements import OneJunction as OneJunction
from pliant.bond_graph.elements import R as R
from pliant.bond_graph.elements import Se as Se
from pliant.bond_graph.elements import Sf as Sf
from pliant.bond_graph.elements import ZeroJunction as ZeroJunction
from pliant.bond_graph.expression import Expression as Expression
from pliant.bond_graph.expression import asin as asin
from pliant.bond_graph.expression import atan2 as atan2
from pliant.bond_graph.expression import cos as cos
from pliant.bond_graph.expression import exp as exp
from pliant.bond_graph.expression import larger as larger
from pliant.bond_graph.expression import log as log
from pliant.bond_graph.expression import name as name
from pliant.bond_graph.expression import parse as parse
from pliant.bond_graph.expression import rotation_factor as rotation_factor
from pliant.bond_graph.expression import sign as sign
from pliant.bond_graph.expression import sin as sin
from pliant.bond_graph.expression import smooth_sign as smooth_sign
from pliant.bond_graph.expression import sqrt as sqrt
from pliant.bond_graph.expression import tan as tan
from pliant.bond_graph.expression import tanh as tanh
from pliant.bond_graph.graph import Bond as Bond
from pliant.bond_graph.graph import Component as Component
from pliant.bond_graph.graph import Integral as Integral
from pliant.bond_graph.graph import Signal as Signal
from pliant.bond_graph.mixed_element import MixedElements as MixedElements
from pliant.bond_graph.yaml_file import dump as dump
from pliant.bond_graph.yaml_file import load as load
from pliant.bond_graph.yaml_file import loads as loads
from pliant.bond_graph.yaml_file import save as save
