"""Git, the medium: lines, what is visible here, publishing and reconciling."""
