"""What is compared, and what comes of it."""

from holdfast.values import frozen


@frozen
class Statement:
    """What a memory says (details may follow after a blank line), its kind, and the paths it governs."""

    text: str
    kind: str = "fact"
    applies_to: tuple[str, ...] = ()


@frozen
class Verdict:
    """Why two statements cannot stand side by side."""

    kind: str  # value, negation, modality, number, twin
    why: str  # a short sentence for people that names the two values
    score: float  # how sure the rules are, from 0 to 1
