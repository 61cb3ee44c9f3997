"""The work graph: what is ready, what waits and why, who works on what, and how it is drawn and moved."""
