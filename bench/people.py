"""Writes the invented table that ships with the package: 5,000 people who do not exist.

    python bench/people.py > src/discreet/apps/demo/people.csv

The distributions are made up to look like a census extract (age, schooling, work, pay); no real record was used.
"""

from __future__ import annotations

import csv
import random
import sys

SCHOOLING = ["none", "primary", "secondary", "vocational", "bachelor", "master", "doctorate"]
COUNTIES = ["Ash", "Birch", "Cedar", "Elm", "Hazel", "Juniper", "Larch", "Maple", "Oak", "Rowan", "Spruce", "Willow"]
SECTORS = ["farming", "industry", "building", "trade", "transport", "care", "teaching", "office", "public", "none"]


def people(count: int, source: random.Random):
    """One row a person."""
    for number in range(count):
        age = min(94, int(source.triangular(0, 94, 38)))
        sex = source.choice(["female", "male"])
        adult = age >= 18
        level = source.choices(range(7), [3, 10, 34, 22, 19, 9, 3])[0] if age >= 24 else min(2, age // 7)
        working = adult and age < 68 and source.random() < 0.74
        sector = source.choices(SECTORS[:-1], [3, 14, 8, 16, 7, 17, 9, 18, 8])[0] if working else "none"
        hours = max(4, min(70, round(source.gauss(36 if sex == "female" else 39, 8)))) if working else 0
        pay = (
            round(source.lognormvariate(9.9 + 0.14 * level + 0.006 * (age - 18), 0.45) * hours / 38, 2)
            if working
            else 0
        )
        county = source.choices(COUNTIES, [5, 9, 4, 12, 3, 2, 6, 14, 20, 4, 8, 13])[0]
        yield [f"P{number:05d}", age, sex, SCHOOLING[level], sector, hours, min(pay, 250000), county]


def main() -> None:
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["person", "age", "sex", "schooling", "sector", "hours", "pay", "county"])
    out.writerows(people(5000, random.Random("five thousand people")))


if __name__ == "__main__":
    main()
