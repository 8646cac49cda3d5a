"""Both cases of [damic2006]: two long links on prescribed motions, an anthropomorphic arm under PD control."""
