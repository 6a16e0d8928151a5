"""A table as it comes from a ward: names, numbers, ages, places, a diagnosis, gaps, and people with several rows."""

from __future__ import annotations

import numpy as np


def hospital(people=300, visits=1, seed=3):
    draw = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), visits)
    age, zipped = draw.integers(20, 90, people), draw.integers(0, 30, people)
    illness = draw.choice(["flu", "gout", "cold", "asthma"], people * visits, p=[0.5, 0.2, 0.2, 0.1])
    return {
        "patient_id": 10_000 + who,
        "name": [f"{['Ann', 'Bob', 'Cem', 'Dia', 'Eva'][one % 5]} {'NORSU'[one % 5]}{one}" for one in who],
        "mail": [f"p{one}@ward.example" for one in who],
        "age": age[who],
        "zip": [f"{2100 + zipped[one]:05d}" for one in who],
        "sex": [("F", "M", None)[one % 7 % 3] for one in who],
        "ward": ["west"] * len(who),
        "diagnosis": illness,
    }
