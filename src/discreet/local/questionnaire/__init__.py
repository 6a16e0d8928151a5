"""Several questions to one person, each randomised where it is answered; written down in a TOML file.

A `Questionnaire` is a list of `Question`s. `estimates` gives a `QuestionEstimate` for each of them; `half_width` and
`people_for` say beforehand how close it will come. `cross_table` and `estimates_by` put two questions together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.lazy import lazy

if TYPE_CHECKING:
    from discreet.local.questionnaire.cross import CrossTable as CrossTable
    from discreet.local.questionnaire.cross import cross_table as cross_table
    from discreet.local.questionnaire.cross import estimates_by as estimates_by
    from discreet.local.questionnaire.estimate import QuestionEstimate as QuestionEstimate
    from discreet.local.questionnaire.estimate import estimates as estimates
    from discreet.local.questionnaire.estimate import half_width as half_width
    from discreet.local.questionnaire.estimate import people_for as people_for
    from discreet.local.questionnaire.question import Question as Question
    from discreet.local.questionnaire.questionnaire import Questionnaire as Questionnaire
    from discreet.local.questionnaire.series import SeriesLoss as SeriesLoss

__getattr__, __dir__, __all__ = lazy(
    __name__,
    {
        "cross": (
            "CrossTable",
            "cross_table",
            "estimates_by",
        ),
        "estimate": (
            "QuestionEstimate",
            "estimates",
            "half_width",
            "people_for",
        ),
        "question": ("Question",),
        "questionnaire": ("Questionnaire",),
        "series": ("SeriesLoss",),
    },
)
