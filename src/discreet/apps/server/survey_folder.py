"""Surveys that custodians open and close while a server runs: files in one folder, which all its processes look at."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from discreet.apps.server.private_file import write_private
from discreet.apps.server.surveys import Survey, check_once, check_survey_name
from discreet.apps.server.trail import Trail
from discreet.apps.survey.store import open_reports
from discreet.errors import DiscreetError, InputError, MissingError
from discreet.local.questionnaire.questionnaire import Questionnaire

__all__ = ["SurveyFolder"]


class SurveyFolder(Mapping[str, Survey]):
    """Surveys by name: those of the command line, which stay as they are, and those of a folder.

    A survey of the folder is NAME.toml, its reports NAME-reports.db; a file NAME.closed says that it is over.
    """

    def __init__(self, folder: Path, fixed: Mapping[str, Survey], trail: Trail) -> None:
        self.folder, self.fixed, self.trail = folder, fixed, trail
        self._known: dict[str, tuple[int, Survey]] = {}
        self._turn = threading.Lock()

    def __getitem__(self, name: str) -> Survey:
        found = self.fixed.get(name) or self._found(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        yield from self.fixed
        if self.folder.is_dir():
            yield from sorted(
                one.stem for one in self.folder.glob("*.toml") if one.stem not in self.fixed and self._found(one.stem)
            )

    def unreadable(self) -> list[str]:
        """Files of the folder that hold no survey: they are open to nobody, and stand in nobody's way."""
        if not self.folder.is_dir():
            return []
        return sorted(one.name for one in self.folder.glob("*.toml") if one.stem not in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def check(self, name: str) -> None:
        """`InputError` unless a survey of this name may be opened."""
        check_survey_name(name, "name")
        if name in self.fixed or self._file(name).exists():
            raise InputError("name", name, "a name that no survey has yet", "Nothing was opened.")

    def open(self, name: str, text: str, *, who: str) -> Survey:
        """Open a survey that is written as its TOML file; its page takes answers at once, in every process."""
        self.check(name)
        asked = Questionnaire.from_text(text)
        check_once(asked)
        try:
            write_private(self._file(name), text, new=True)
        except FileExistsError:  # by another process, just now
            raise InputError("name", name, "a name that no survey has yet", "Nothing was opened.") from None
        self.trail.add(who, "survey", name, f"opened, digest {asked.digest[:12]}")
        return self[name]

    def close(self, name: str, *, who: str) -> Survey:
        """Take no more answers. What was answered stays."""
        self._own(name)
        self._mark(name).touch(mode=0o600)
        self.trail.add(who, "survey", name, "closed")
        return self[name]

    def reopen(self, name: str, *, who: str) -> Survey:
        """Take answers again."""
        self._own(name)
        self._mark(name).unlink(missing_ok=True)
        self.trail.add(who, "survey", name, "opened again")
        return self[name]

    def text(self, name: str) -> str:
        """The file of a survey of the folder."""
        self._own(name)
        return self._file(name).read_text(encoding="utf-8")

    def _own(self, name: str) -> None:
        if name in self.fixed:
            hint = "It was named with --survey when the server was started, and is open as long as that runs."
            raise InputError("survey", name, "one that was opened on these pages", hint)
        if self._found(name) is None:
            raise MissingError("survey", name, among=self)

    def _file(self, name: str) -> Path:
        check_survey_name(name, "name")
        return self.folder / f"{name}.toml"

    def _mark(self, name: str) -> Path:
        return self.folder / f"{name}.closed"

    def _found(self, name: str) -> Survey | None:
        """The survey as its files say now; the same object as long as they say the same. None where they say none."""
        try:
            written = self._file(name).stat().st_mtime_ns
        except (OSError, InputError):
            return None
        with self._turn:
            stamp, known = self._known.get(name, (0, None))
            taking = not self._mark(name).exists()
            if known is None or stamp != written:
                try:
                    asked = Questionnaire.load(self._file(name))
                    check_once(asked)
                    reports = open_reports(str(self.folder / f"{name}-reports.db"), asked.digest)
                except DiscreetError:  # one file that is broken must not close the others
                    return None
                known = Survey(name, asked, reports, taking)
            elif known.open != taking:
                known = Survey(name, known.questionnaire, known.reports, taking)
            self._known[name] = (written, known)
            return known
