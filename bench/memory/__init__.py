"""How good the proposals are that sessions leave behind, on labelled sessions that somebody else keeps."""
