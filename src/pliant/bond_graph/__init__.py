"""Bond graphs: what a system exchanges as power, drawn and computed.

Components hold elements, junctions and other components (`graph`); laws are formulas as data (`expression`); equations are
assembled without causality (`flat`, `equations`) and stepped by one compiled loop for all graphs (`tape`, `step`); causality
is assigned to explain (`causality`).
"""
