"""Several questions to one person, each randomised where it is answered; written down in a TOML file."""

from discreet.local.questionnaire.estimate import Estimated, estimates
from discreet.local.questionnaire.question import Question
from discreet.local.questionnaire.questionnaire import Questionnaire

__all__ = ["Estimated", "Question", "Questionnaire", "estimates"]
