"""Arguments of a call held against the tool's own schema: what clients read is what is checked."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Schema = dict[str, Any]

_NAMED: "dict[str, type]" = {"string": str, "integer": int, "array": list, "object": dict, "boolean": bool}


def wrong(schema: "Schema", given: "dict[str, Any]") -> str | None:
    """What is wrong with a tool's arguments, in a sentence with what is accepted; None if nothing is."""
    known = schema["properties"]
    if unknown := sorted(set(given) - set(known)):
        return f"there is no argument {unknown[0][:60]!r}; known are {', '.join(known)}"
    if missing := [name for name in schema.get("required", ()) if name not in given]:
        return f"the argument {missing[0]!r} is missing"
    return next((said for name, value in given.items() if (said := _value(name, value, known[name]))), None)


def _value(name: str, value: "Any", rule: "Schema") -> str | None:
    kind = rule["type"]
    if not _is_a(kind, value):
        return f"{name} must be {'an' if kind[0] in 'aio' else 'a'} {kind}"
    if "enum" in rule and value not in rule["enum"]:
        return f"{name} must be one of {', '.join(rule['enum'])}"
    if kind == "string":
        return _too_long(name, value, rule)
    if kind == "integer" and not rule["minimum"] <= value <= rule["maximum"]:
        return f"{name} must be from {rule['minimum']} to {rule['maximum']}"
    if kind == "array":
        if len(value) > rule["maxItems"]:
            return f"{name} names {len(value)} things; at most {rule['maxItems']} are taken"
        return next((said for item in value if (said := _value(f"each of {name}", item, rule["items"]))), None)
    return None


def _is_a(kind: str, value: "Any") -> bool:
    return isinstance(value, _NAMED[kind]) and (kind == "boolean") == isinstance(value, bool)


def _too_long(name: str, value: str, rule: "Schema") -> str | None:
    most = rule.get("maxLength")
    return f"{name} may have {most:,} characters" if most is not None and len(value) > most else None
