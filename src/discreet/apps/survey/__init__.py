"""Surveys nobody has to trust, served: a page that randomises in the browser, and a store of what it sends.

`application` is the server of a `Questionnaire` over a store of reports (`open_reports`); `results_of` estimates from
the store, `read_results` (and `read_rounds`, of several rounds) also from files that `export_reports` wrote;
`plan_survey` says what to expect beforehand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.apps.survey.files import export_reports as export_reports
    from discreet.apps.survey.files import read_results as read_results
    from discreet.apps.survey.plan import SurveyPlan as SurveyPlan
    from discreet.apps.survey.plan import plan_survey as plan_survey
    from discreet.apps.survey.reading import Reading as Reading
    from discreet.apps.survey.results import Results as Results
    from discreet.apps.survey.results import results_of as results_of
    from discreet.apps.survey.rounds import Rounds as Rounds
    from discreet.apps.survey.rounds import read_rounds as read_rounds
    from discreet.apps.survey.server import application as application
    from discreet.apps.survey.store import Reports as Reports
    from discreet.apps.survey.store import open_reports as open_reports

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "files": (
            "export_reports",
            "read_results",
        ),
        "plan": (
            "SurveyPlan",
            "plan_survey",
        ),
        "reading": ("Reading",),
        "results": (
            "Results",
            "results_of",
        ),
        "rounds": (
            "Rounds",
            "read_rounds",
        ),
        "server": ("application",),
        "store": (
            "Reports",
            "open_reports",
        ),
    },
)
