"""Ledgers in files, copied and restored: what a guard must notice."""

import shutil

from discreet.core.loss import Pure
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger


def open_ledger(folder):
    return Ledger.open(folder / "discreet.db", create=True)


def spend(ledger, release, epsilon=1):
    return ledger.spend("visits", Pure(epsilon), release=release, who="ann", digest="d")


def guards(state):
    return sorted((state / "guards").glob("*.head"))


def copy(folder, target):
    target.mkdir(exist_ok=True)
    for path in folder.glob("discreet.db*"):
        if path.is_file():
            shutil.copy(path, target / path.name)


def restore(ledger, folder, *, anchor=False):
    """Spend, then put back the files from before; the guard stays unless `anchor`."""
    ledger.close()
    copy(folder, folder / "backup")
    shutil.copytree(folder / "state", folder / "old-state")
    for release in ("r2", "r3"):
        spend(ledger, release)
    ledger.close()
    if anchor:
        shutil.copytree(folder / "old-state", folder / "state", dirs_exist_ok=True)
    for path in (folder / "backup").iterdir():
        shutil.copy(path, folder / path.name)
    for name in ("discreet.db-wal", "discreet.db-shm"):
        if not (folder / "backup" / name).exists():
            (folder / name).unlink(missing_ok=True)
    return open_ledger(folder)


def begin(path):
    """A ledger with room for many charges."""
    ledger = Ledger.open(path, create=True)
    ledger.create("visits", Budget(epsilon=1000), who="ann")
    return ledger
