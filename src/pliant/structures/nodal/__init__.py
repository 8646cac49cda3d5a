"""Chains of nodes with poses; trees, loops and force elements, stepped with exact energy and momentum."""
