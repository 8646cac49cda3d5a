"""Steppers that formulations share."""

from __future__ import annotations
