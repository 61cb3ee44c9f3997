"""The parts of a pack: what there is to tell, its lines section by section, counting and fitting them."""
