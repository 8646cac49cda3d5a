"""Formulas and equations as data: built, differentiated, evaluated by one compiled loop, solved with fixed pivots."""
