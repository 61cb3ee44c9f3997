"""Text at rest that only a key opens: how it is sealed, and where keys come from.

A sealed value names the key that opens it, so a new key needs no value written again, and once a key is destroyed its
values are noise. What it is bound to (project, table, column, key of the row) goes into its proof: copied to another
row it does not open. The cipher is AES-256-GCM with a random nonce, which is sound for 2^32 values of one key.
Keys are made from a secret of 32 bytes: wrapped to age or SSH recipients and kept beside the data, in the system's
keyring, or in a variable. Libraries are loaded when something is sealed or opened, not before.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import hmac
import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

from holdfast.errors import BadInput, BadSettings, LockedText
from holdfast.values import frozen

MARK = "holdfast-sealed:1:"
SECRET_BYTES = 32  # a key of AES-256
NONCE_BYTES = 12  # what GCM is made for
MAX_FILE = 64 * 1024  # bytes of a file of recipients or identities
_EXTRA = "Install again from Holdfast's own folder, with '.[encryption]' in place of '.'"
_SERVICE = "holdfast"
_UNLOCK = "Unlock it, or set `encryption.key` to another source: `python -m keyring diagnose` says which one is used."


@frozen
class SealingKey:
    """One key of a project: its id, and what seals and opens with it."""

    id: str
    data: bytes
    naming: bytes  # for ids that are made of what a text says: nobody without it can try texts

    @classmethod
    def of(cls, secret: bytes, project: str) -> SealingKey:
        """The key that a secret gives a project: one secret may serve several."""
        parts = [hmac.digest(secret, f"holdfast {use} {project}".encode(), "sha256") for use in ("id", "data", "name")]
        return cls(parts[0].hex()[:16], parts[1], parts[2])


@frozen(kw_only=True)
class StoredKey:
    """What a store knows of a key; `wrapped` is empty where the key itself is kept elsewhere."""

    id: str
    wrapped: str = ""
    created: int = 0
    destroyed: int | None = None


def is_sealed(text: object) -> bool:
    """Whether a text is a sealed one, whoever can open it."""
    return isinstance(text, str) and text.startswith(MARK)


class TextVault:
    """Seals what the settings name, and opens what its keys open; counts what it could not."""

    def __init__(
        self,
        project: str,
        *,
        scope: Collection[str] = (),
        keys: Sequence[SealingKey] = (),
        destroyed: Collection[str] = (),
    ) -> None:
        """`keys`: the first seals, all open."""
        self.project, self.scope = project, frozenset(scope)
        self.locked: Counter[tuple[str, str]] = Counter()  # key id and reason: how often something stayed closed
        self.use(keys, destroyed)

    def use(self, keys: Sequence[SealingKey], destroyed: Collection[str]) -> None:
        """Go on with these keys instead of those before."""
        usable = [key for key in keys if key.id not in destroyed]
        self._current = usable[0] if usable else None
        self._keys, self._destroyed = {key.id: key for key in usable}, frozenset(destroyed)

    @property
    def key_id(self) -> str | None:
        """The key that seals; None if there is none here."""
        return self._current.id if self._current else None

    def seals(self, scope: str) -> bool:
        return scope in self.scope

    def seal(self, scope: str, text: str, *bound: object) -> str:
        """The text as it may be stored at a place; LockedText if it must be sealed and no key is here."""
        if scope not in self.scope:
            return text
        return self.seal_bytes(scope, text.encode("utf-8", "surrogatepass"), *bound)

    def seal_bytes(self, what: str, data: bytes, *bound: object) -> str:
        """Seal bytes, whatever the settings say; `what` names them if no key is here."""
        key = self._key(what)
        nonce = os.urandom(NONCE_BYTES)
        sealed = _cipher(key.data).encrypt(nonce, data, self._proof(key.id, bound))
        return f"{MARK}{key.id}:{base64.b64encode(nonce + sealed).decode()}"

    def unseal(self, text: str, *bound: object) -> str | None:
        """The text that is stored at a place; None if it stays closed, which is counted in `locked`."""
        if not is_sealed(text):
            return text
        opened = self.unseal_bytes(text, *bound)
        return None if opened is None else str(opened, "utf-8", "surrogatepass")

    @property
    def key_ids(self) -> Collection[str]:
        """The keys that are here."""
        return self._keys.keys()

    def opens(self, key: str) -> bool:
        return key in self._keys

    def unseal_bytes(self, text: str, *bound: object) -> bytes | None:
        """The bytes of a sealed text; None if it stays closed, which is counted in `locked`."""
        name, _, coded = text[len(MARK) :].partition(":")
        if (key := self._keys.get(name)) is None:
            self.locked[name[:16], "its key was destroyed" if name in self._destroyed else "its key is not here"] += 1
            return None
        try:
            from cryptography.exceptions import InvalidTag
        except ImportError:
            self.locked[name, "the package cryptography is not here"] += 1
            return None
        try:
            data = base64.b64decode(coded, validate=True)
            opened: bytes = _cipher(key.data).decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], self._proof(name, bound))
            return opened
        except (binascii.Error, ValueError, InvalidTag):
            self.locked[name, "it was altered or moved"] += 1
            return None

    def fingerprint(self, scope: str, text: str) -> str:
        """A hash of a text; where it is sealed, one that only this key can make."""
        if scope in self.scope:
            return hmac.new(self._key(scope).naming, text.encode(), "sha256").hexdigest()
        return hashlib.sha256(text.encode()).hexdigest()

    def _key(self, scope: str) -> SealingKey:
        if self._current is None:
            raise LockedText(f"{scope} are sealed here and their key is not at hand, so nothing was kept")
        return self._current

    def _proof(self, key: str, bound: Iterable[object]) -> bytes:
        return json.dumps(["holdfast", 1, key, self.project, *map(str, bound)]).encode()


def _cipher(data: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise LockedText("sealed text needs the package cryptography", hint=_EXTRA) from None
    return AESGCM(data)


# ── where keys come from ─────────────────────────────────────────────────────────────────────────


class KeySource(Protocol):
    """Where the secrets of a project's keys are kept."""

    makes: bool  # whether it takes new secrets

    def secrets(self, stored: Sequence[StoredKey]) -> list[bytes]:
        """The secrets that are here, the one to seal with first."""

    def add(self, secret: bytes) -> str:
        """Take a new secret; gives what is to be kept beside the data."""

    def destroy(self, project: str, key: str) -> bool:
        """Forget a secret; whether nobody else has to."""


def key_source(setting: str | None, *, project: str, identity: str | None, environ: Mapping[str, str]) -> KeySource:
    """The source that `encryption.key` names."""
    if setting is None:
        return _NoKeys()
    kind, _, rest = setting.partition(":")
    if kind == "env" and rest:
        return _VariableKeys(rest, environ)
    if kind == "keyring":
        return _KeyringKeys(rest or project)
    if kind == "age" and rest:
        return _WrappedKeys(rest, identity)
    raise BadSettings(  # its value is not said: it may be the key itself
        "encryption.key names no source of keys",
        hint="Use keyring, env:NAME or age:FILE-OF-RECIPIENTS; the key itself stands in none of our settings.",
    )


def words_of_variable(setting: str | None, environ: Mapping[str, str]) -> list[str]:
    """The keys that stand in a variable: whatever a program prints of its environment must not be kept with them."""
    kind, _, name = (setting or "").partition(":")
    return [word for word in environ.get(name, "").split() if len(word) >= SECRET_BYTES] if kind == "env" else []


class _NoKeys:
    """No setting names a source: asking it for keys is an error that says so."""

    makes = False

    def secrets(self, stored: Sequence[StoredKey]) -> list[bytes]:  # noqa: ARG002
        raise BadSettings(
            "encryption.key says nothing, so nothing can be sealed or opened",
            hint="Set it to keyring, env:NAME or age:FILE-OF-RECIPIENTS.",
        )

    def add(self, secret: bytes) -> str:  # noqa: ARG002
        self.secrets(())
        return ""

    def destroy(self, project: str, key: str) -> bool:  # noqa: ARG002
        return False


class _VariableKeys:
    """Secrets in a variable, each as base64: the first seals, all open."""

    makes = False

    def __init__(self, name: str, environ: Mapping[str, str]) -> None:
        self._name, self._given = name, environ.get(name, "")

    def secrets(self, stored: Sequence[StoredKey]) -> list[bytes]:  # noqa: ARG002
        return _decoded(self._given, f"the variable {self._name}")

    def add(self, secret: bytes) -> str:  # noqa: ARG002
        raise BadInput(
            f"keys come from the variable {self._name}, which only you can change",
            hint=f"Put a new one before the others: {self._name}='NEW OLD' (32 random bytes as base64).",
        )

    def destroy(self, project: str, key: str) -> bool:  # noqa: ARG002
        return False


class _KeyringKeys:
    """Secrets in the system's keyring, all of a project in one entry."""

    makes = True

    def __init__(self, account: str) -> None:
        self._account = account

    def secrets(self, stored: Sequence[StoredKey]) -> list[bytes]:  # noqa: ARG002
        return _decoded(self._read(), "the keyring")

    def add(self, secret: bytes) -> str:
        self._write([base64.b64encode(secret).decode(), *self._read().split()])
        return ""

    def destroy(self, project: str, key: str) -> bool:
        words = self._read().split()
        left = [one for one in words if SealingKey.of(base64.b64decode(one), project).id != key]
        if left != words:
            self._write(left)
        return True

    def _read(self) -> str:
        keyring, failed = _keyring()
        try:
            return keyring.get_password(_SERVICE, self._account) or ""
        except failed as error:
            raise LockedText(f"the keyring does not answer: {error}", hint=_UNLOCK) from None

    def _write(self, words: Sequence[str]) -> None:
        keyring, failed = _keyring()
        try:
            keyring.set_password(_SERVICE, self._account, " ".join(words))
        except failed as error:
            raise LockedText(f"the keyring does not take a key: {error}", hint=_UNLOCK) from None
        if self._read().split() != [*words]:  # one that was switched off takes everything and keeps nothing
            raise LockedText("the keyring did not keep a key", hint=_UNLOCK)


def _keyring() -> tuple[Any, tuple[type[Exception], ...]]:
    try:
        keyring, errors = import_module("keyring"), import_module("keyring.errors")
    except ImportError:
        raise LockedText("keys from the keyring need the package keyring", hint=_EXTRA) from None
    failed = [errors.KeyringError, OSError, RuntimeError]
    with contextlib.suppress(ImportError):  # it does not hide what its Secret Service raises when that goes away
        failed += [import_module("secretstorage").SecretStorageException, import_module("jeepney").DBusErrorResponse]
    return keyring, tuple(failed)


class _WrappedKeys:
    """Secrets beside the data, wrapped to the recipients in a file; an identity file opens them."""

    makes = True

    def __init__(self, recipients: str, identity: str | None) -> None:
        self._recipients, self._identity = recipients, identity

    def secrets(self, stored: Sequence[StoredKey]) -> list[bytes]:
        waiting = [key for key in stored if key.wrapped]
        if not waiting or self._identity is None:
            return []
        pyrage, found = _pyrage(), _identities(self._identity)
        secrets = []
        for key in sorted(waiting, key=lambda one: (one.created, one.id), reverse=True):
            try:
                secrets.append(pyrage.decrypt(key.wrapped.encode(), found))
            except pyrage.DecryptError:  # wrapped to others: what it sealed stays closed here
                continue
        return secrets

    def add(self, secret: bytes) -> str:
        pyrage = _pyrage()
        wrapped: bytes = pyrage.encrypt(secret, _read_recipients(self._recipients), armored=True)
        kept = StoredKey(id="", wrapped=wrapped.decode())
        if self.secrets([kept]) != [secret]:  # or this machine would seal what it cannot read
            raise LockedText(
                "a new key could not be opened here",
                hint="Set `encryption.identity` to a file of one of the recipients.",
            )
        return kept.wrapped

    def destroy(self, project: str, key: str) -> bool:  # noqa: ARG002
        return True  # the wrapped secret is in the store alone, which forgets it


def _pyrage() -> Any:
    try:
        return import_module("pyrage")
    except ImportError:
        raise LockedText("keys for age recipients need the package pyrage", hint=_EXTRA) from None


def _read_recipients(path: str) -> list[Any]:
    """The age and SSH recipients that a file names, one a line."""
    pyrage = _pyrage()
    found = []
    for number, line in enumerate(_lines(path), 1):
        kind = pyrage.ssh if line.startswith("ssh-") else pyrage.x25519
        try:
            found.append(kind.Recipient.from_str(line))
        except (pyrage.RecipientError, ValueError):
            # What it says is not told: it may be an identity.
            said = f"{path} names somebody that is no age or SSH recipient (the {number}. one)"
            raise BadSettings(said, hint="Write age1… or ssh-ed25519 … lines, the public halves of keys.") from None
    if not found:
        raise BadSettings(f"{path} names no recipients", hint="Write age1… or ssh-ed25519 … lines into it.")
    return found


def _identities(path: str) -> list[Any]:
    pyrage = _pyrage()
    lines = _lines(path)
    try:
        if lines and lines[0].startswith("-----BEGIN"):
            return [pyrage.ssh.Identity.from_buffer("\n".join([*lines, ""]).encode())]
        return [pyrage.x25519.Identity.from_str(line) for line in lines]
    except (pyrage.IdentityError, ValueError):
        raise BadSettings(
            f"{path} holds no age or SSH identity that opens without a password",
            hint="Make one for this: ssh-keygen -t ed25519 -N '' -f FILE, and add FILE.pub to the recipients.",
        ) from None


def _lines(path: str) -> list[str]:
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            text = file.read(MAX_FILE)
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path} cannot be read: {error}") from None
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _decoded(text: str, where: str) -> list[bytes]:
    try:
        found = [base64.b64decode(word, validate=True) for word in text.split()]
    except binascii.Error:
        found = [b""]
    if any(len(secret) != SECRET_BYTES for secret in found):
        raise BadSettings(
            f"{where} holds a key that is not 32 bytes as base64", hint="Make one: openssl rand -base64 32."
        )
    return found
