"""Statements as analysts write them, one for a construct, about one table: visits to doctors.

Written from the documentation of SmartNoise, Qrlew, Flex, Google's differentially private SQL, Tumult Analytics, TPC-H
and the manuals of DuckDB, PostgreSQL, Spark, BigQuery and SQL Server, in words of our own.
"""

from __future__ import annotations

CORPUS: dict[str, list[str]] = {
    "count": [
        "SELECT COUNT(*) FROM visits",
        "SELECT COUNT(1) FROM visits",
        "SELECT COUNT(cost) FROM visits",
        "SELECT COUNT(*) AS n FROM visits",
        "SELECT COUNT(DISTINCT patient) FROM visits",
        "SELECT COUNT(DISTINCT county) FROM visits",
        "SELECT COUNT(*) n, COUNT(cost) with_cost FROM visits",
    ],
    "tolerance": [
        "SELECT COUNT(*) FROM visits;",
        "SELECT COUNT(*) FROM visits -- every row",
        "SELECT /* how many */ COUNT(*) FROM visits",
        "select count(*) from Visits",
        "SELECT COUNT(*) FROM main.visits",
        "SELECT v.sex, COUNT(*) FROM visits v GROUP BY v.sex",
        "SELECT V.Sex, COUNT(*) FROM visits AS V GROUP BY V.Sex",
        'SELECT "sex", COUNT(*) FROM "visits" GROUP BY "sex"',
        "SELECT sex AS gender, COUNT(*) FROM visits GROUP BY gender",
        "SELECT sex, COUNT(*) FROM visits GROUP BY 1",
        "SELECT sex, COUNT(*) FROM visits GROUP BY ALL",
        "SELECT sex, county, COUNT(*) FROM visits GROUP BY 1, 2 ORDER BY 1, 2",
        "SELECT visits.sex, COUNT(*) FROM visits GROUP BY visits.sex",
        "(SELECT COUNT(*) FROM visits)",
        "SELECT\n  sex,\n  COUNT(*) AS n\nFROM visits\nGROUP BY sex\n;",
    ],
    "where": [
        "SELECT COUNT(*) FROM visits WHERE age >= 18",
        "SELECT COUNT(*) FROM visits WHERE age <> 40 AND sex != 'F'",
        "SELECT COUNT(*) FROM visits WHERE age BETWEEN 20 AND 29",
        "SELECT COUNT(*) FROM visits WHERE age NOT BETWEEN 20 AND 29",
        "SELECT COUNT(*) FROM visits WHERE county IN ('Ash', 'Elm')",
        "SELECT COUNT(*) FROM visits WHERE county NOT IN ('Ash')",
        "SELECT COUNT(*) FROM visits WHERE cost IS NULL",
        "SELECT COUNT(*) FROM visits WHERE cost IS NOT NULL AND NOT insured",
        "SELECT COUNT(*) FROM visits WHERE insured",
        "SELECT COUNT(*) FROM visits WHERE insured = TRUE OR age < 5",
        "SELECT COUNT(*) FROM visits WHERE insured IS NOT TRUE",
        "SELECT COUNT(*) FROM visits WHERE (age > 60 AND sex = 'F') OR (age > 65 AND sex = 'M')",
        "SELECT COUNT(*) FROM visits WHERE cost > hours",
        "SELECT COUNT(*) FROM visits WHERE cost * hours > 100",
        "SELECT COUNT(*) FROM visits WHERE age % 2 = 0",
        "SELECT COUNT(*) FROM visits WHERE county LIKE 'A%'",
        "SELECT COUNT(*) FROM visits WHERE county ILIKE 'a%'",
        "SELECT COUNT(*) FROM visits WHERE county NOT LIKE '%m'",
        "SELECT COUNT(*) FROM visits WHERE UPPER(county) = 'ASH'",
        "SELECT COUNT(*) FROM visits WHERE LENGTH(county) = 3",
        "SELECT COUNT(*) FROM visits WHERE SUBSTR(county, 1, 1) = 'E'",
        "SELECT COUNT(*) FROM visits WHERE day >= DATE '2021-03-01'",
        "SELECT COUNT(*) FROM visits WHERE day >= '2021-03-01' AND day < '2021-04-01'",
        "SELECT COUNT(*) FROM visits WHERE EXTRACT(year FROM day) = 2021",
        "SELECT COUNT(*) FROM visits WHERE day > DATE '2021-06-30' - INTERVAL 1 MONTH",
        "SELECT COUNT(*) FROM visits WHERE 1 = 1 AND age > 30",
        "SELECT COUNT(*) FROM visits WHERE COALESCE(cost, 0) > 10",
        "SELECT COUNT(*) FROM visits WHERE ABS(age - 40) <= 5",
        "SELECT COUNT(*) FROM visits WHERE CASE WHEN sex = 'F' THEN age > 60 ELSE age > 65 END",
        "SELECT COUNT(*) FROM visits WHERE (sex = 'F') <> insured",
        "SELECT COUNT(*) FROM visits WHERE age IS DISTINCT FROM 40",
        "SELECT COUNT(*) FROM visits WHERE county IN (SELECT county FROM regions WHERE region = 'north')",
    ],
    "aggregate": [
        "SELECT SUM(cost) FROM visits",
        "SELECT AVG(cost) FROM visits",
        "SELECT AVG(age), AVG(cost) FROM visits",
        "SELECT VAR_POP(cost), STDDEV_POP(cost) FROM visits",
        "SELECT VARIANCE(cost), STDDEV(cost) FROM visits",
        "SELECT VAR_SAMP(age), STDDEV_SAMP(age) FROM visits",
        "SELECT MEDIAN(cost) FROM visits",
        "SELECT QUANTILE_CONT(cost, 0.9) FROM visits",
        "SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY cost) FROM visits",
        "SELECT MIN(cost), MAX(cost) FROM visits",
        "SELECT COUNT_IF(age >= 65) FROM visits",
        "SELECT SUM(age >= 65) FROM visits",
        "SELECT AVG(insured::INT) FROM visits",
        "SELECT MODE(county) FROM visits",
        "SELECT CORR(age, cost) FROM visits",
        "SELECT COVAR_POP(age, cost) FROM visits",
        "SELECT REGR_SLOPE(cost, age), REGR_INTERCEPT(cost, age) FROM visits",
        "SELECT APPROX_COUNT_DISTINCT(patient) FROM visits",
        "SELECT SUM(1) FROM visits",
    ],
    "aggregate of an expression": [
        "SELECT SUM(cost * hours) FROM visits",
        "SELECT AVG(cost / 100) FROM visits",
        "SELECT SUM(cost + hours * 2) FROM visits",
        "SELECT AVG(ABS(age - 40)) FROM visits",
        "SELECT SUM(LEAST(cost, 50)) FROM visits",
        "SELECT AVG(GREATEST(hours, 10)) FROM visits",
        "SELECT AVG(COALESCE(cost, 0)) FROM visits",
        "SELECT SUM(CASE WHEN age >= 65 THEN 1 ELSE 0 END) FROM visits",
        "SELECT AVG(CASE WHEN insured THEN 1.0 ELSE 0.0 END) FROM visits",
        "SELECT SUM(CASE WHEN sex = 'F' THEN cost ELSE 0 END) FROM visits",
        "SELECT AVG(CASE WHEN sex = 'F' THEN cost END) FROM visits",
        "SELECT SUM(IF(insured, cost, 0)) FROM visits",
        "SELECT AVG(ROUND(cost)) FROM visits",
        "SELECT AVG(FLOOR(cost / 10)) FROM visits",
        "SELECT AVG(CAST(age AS DOUBLE)) FROM visits",
        "SELECT SUM(age * age) FROM visits",
        "SELECT AVG(POWER(hours, 2)) FROM visits",
        "SELECT AVG(SQRT(hours)) FROM visits",
        "SELECT AVG(LN(age + 1)) FROM visits",
        "SELECT AVG(NULLIF(hours, 0)) FROM visits",
        "SELECT AVG(day - DATE '2020-01-01') FROM visits",
        "SELECT AVG(DATE_DIFF('day', DATE '2020-01-01', day)) FROM visits",
        "SELECT SUM(-hours) FROM visits",
        "SELECT COUNT(NULLIF(sex, 'F')) FROM visits",
        "SELECT MEDIAN(cost * 2) FROM visits",
        "SELECT STDDEV(cost + hours) FROM visits",
        "SELECT SUM(LENGTH(county)) FROM visits",
        "SELECT AVG(YEAR(day) - 2000) FROM visits",
    ],
    "filter": [
        "SELECT COUNT(*) FILTER (WHERE age > 50) FROM visits",
        "SELECT SUM(cost) FILTER (WHERE sex = 'F') AS f, SUM(cost) FILTER (WHERE sex = 'M') AS m FROM visits",
        "SELECT AVG(cost) FILTER (WHERE insured) FROM visits",
        "SELECT sex, COUNT(*) FILTER (WHERE insured) AS insured FROM visits GROUP BY sex",
    ],
    "keys": [
        "SELECT sex, COUNT(*) FROM visits GROUP BY sex",
        "SELECT sex, county, AVG(cost) FROM visits GROUP BY sex, county",
        "SELECT insured, COUNT(*) FROM visits GROUP BY insured",
        "SELECT age, COUNT(*) FROM visits GROUP BY age",
        "SELECT age // 10 * 10 AS decade, COUNT(*) FROM visits GROUP BY decade",
        "SELECT FLOOR(age / 10) AS decade, COUNT(*) FROM visits GROUP BY FLOOR(age / 10)",
        "SELECT CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' ELSE 'senior' END "
        "AS g, COUNT(*) FROM visits GROUP BY g",
        "SELECT age >= 65 AS senior, COUNT(*) FROM visits GROUP BY senior",
        "SELECT UPPER(county) AS c, COUNT(*) FROM visits GROUP BY UPPER(county)",
        "SELECT SUBSTR(county, 1, 1) AS letter, COUNT(*) FROM visits GROUP BY letter",
        "SELECT sex || '/' || county AS k, COUNT(*) FROM visits GROUP BY k",
        "SELECT CONCAT(sex, '-', county) AS k, COUNT(*) FROM visits GROUP BY k",
        "SELECT YEAR(day) AS y, COUNT(*) FROM visits GROUP BY y",
        "SELECT EXTRACT(month FROM day) AS m, COUNT(*) FROM visits GROUP BY m",
        "SELECT QUARTER(day) AS q, SUM(cost) FROM visits GROUP BY q",
        "SELECT DAYOFWEEK(day) AS d, COUNT(*) FROM visits GROUP BY d",
        "SELECT DAYNAME(day) AS d, COUNT(*) FROM visits GROUP BY d",
        "SELECT WEEK(day) AS w, COUNT(*) FROM visits WHERE day < '2021-02-01' GROUP BY w",
        "SELECT DATE_TRUNC('month', day) AS m, COUNT(*) FROM visits GROUP BY m ORDER BY m",
        "SELECT DATE_TRUNC('year', day) AS y, AVG(cost) FROM visits GROUP BY y",
        "SELECT DATE_PART('year', day) AS y, COUNT(*) FROM visits GROUP BY y",
        "SELECT ROUND(hours, -1) AS h, COUNT(*) FROM visits GROUP BY h",
        "SELECT hours % 3 AS h, COUNT(*) FROM visits GROUP BY h",
        "SELECT LEAST(hours, 5) AS h, COUNT(*) FROM visits GROUP BY h",
        "SELECT COALESCE(diagnosis, 'none') AS d, COUNT(*) FROM visits GROUP BY d",
        "SELECT CAST(hours AS VARCHAR) AS h, COUNT(*) FROM visits WHERE hours < 3 GROUP BY h",
        "SELECT sex, age >= 40 AS older, insured, COUNT(*) FROM visits GROUP BY sex, older, insured",
        "SELECT COUNT(*) FROM visits GROUP BY sex",
        "SELECT sex, COUNT(*) FROM visits WHERE sex = 'F' GROUP BY sex",
        "SELECT county, COUNT(*) FROM visits WHERE county IN ('Ash', 'Elm') GROUP BY county",
        "SELECT DISTINCT sex FROM visits",
        "SELECT sex, county FROM visits GROUP BY sex, county",
    ],
    "after the noise": [
        "SELECT SUM(cost) / COUNT(*) FROM visits",
        "SELECT sex, SUM(cost) / COUNT(cost) AS mean_cost FROM visits GROUP BY sex",
        "SELECT SUM(cost) / SUM(hours) AS rate FROM visits",
        "SELECT ROUND(AVG(cost), 1) FROM visits",
        "SELECT AVG(cost) * 12 AS yearly FROM visits",
        "SELECT COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS percent, sex FROM visits GROUP BY sex",
        "SELECT sex, county, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER (PARTITION BY sex) AS share "
        "FROM visits GROUP BY sex, county",
        "SELECT SQRT(VAR_POP(cost)) FROM visits",
        "SELECT AVG(age) - AVG(hours) FROM visits",
        "SELECT CASE WHEN COUNT(*) > 100 THEN 'many' ELSE 'few' END FROM visits",
        "SELECT 100.0 * COUNT(*) FILTER (WHERE insured) / COUNT(*) AS insured_percent FROM visits",
        "SELECT COUNT(*) + 0 FROM visits",
        "SELECT sex, COUNT(*) FROM visits GROUP BY sex HAVING COUNT(*) > 10",
        "SELECT sex, COUNT(*) FROM visits GROUP BY sex HAVING AVG(cost) > 20 OR sex = 'M'",
        "SELECT county, COUNT(*) AS n FROM visits GROUP BY county HAVING n BETWEEN 1 AND 100000",
        "SELECT county, COUNT(*) AS n FROM visits GROUP BY county HAVING NOT n < 10",
        "SELECT county, COUNT(*) AS n FROM visits GROUP BY county ORDER BY n DESC LIMIT 2",
        "SELECT county, COUNT(*) AS n FROM visits GROUP BY county ORDER BY COUNT(*) DESC, county",
        "SELECT county, AVG(cost) FROM visits GROUP BY county ORDER BY 2 DESC",
        "SELECT county, COUNT(*) FROM visits GROUP BY county LIMIT 3 OFFSET 1",
        "SELECT county, COUNT(*) AS n FROM visits GROUP BY county ORDER BY n FETCH FIRST 2 ROWS ONLY",
        "SELECT county, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM visits GROUP BY county",
    ],
    "subqueries": [
        "SELECT COUNT(*) FROM (SELECT * FROM visits WHERE age > 30) AS older",
        "SELECT AVG(c) FROM (SELECT cost * 2 AS c FROM visits) t",
        "SELECT t.s, COUNT(*) FROM (SELECT sex AS s, age FROM visits WHERE insured) t WHERE t.age > 20 GROUP BY t.s",
        "WITH adults AS (SELECT * FROM visits WHERE age >= 18) SELECT sex, COUNT(*) FROM adults GROUP BY sex",
        "WITH a AS (SELECT age, cost FROM visits), b AS (SELECT * FROM a WHERE age > 40) SELECT AVG(cost) FROM b",
        "WITH banded AS (SELECT CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS band, cost FROM visits) "
        "SELECT band, AVG(cost) FROM banded GROUP BY band",
        "SELECT AVG(n) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) p",
        "SELECT COUNT(*) FROM (SELECT DISTINCT patient FROM visits) p",
        "SELECT SUM(n) FROM (SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex) t",
    ],
    "joins": [
        "SELECT region, COUNT(*) FROM visits JOIN regions USING (county) GROUP BY region",
        "SELECT r.region, COUNT(*) FROM visits v JOIN regions r ON v.county = r.county GROUP BY r.region",
        "SELECT r.region, AVG(v.cost) FROM visits v INNER JOIN regions r ON r.county = v.county GROUP BY r.region",
        "SELECT r.region, COUNT(*) FROM visits v LEFT JOIN regions r ON v.county = r.county GROUP BY r.region",
        "SELECT COUNT(*) FROM visits v JOIN regions r ON v.county = r.county WHERE r.region = 'north'",
        "SELECT region, COUNT(*) FROM visits NATURAL JOIN regions GROUP BY region",
    ],
    "several questions": [
        "SELECT sex, county, COUNT(*) FROM visits GROUP BY ROLLUP (sex, county)",
        "SELECT sex, county, COUNT(*) FROM visits GROUP BY CUBE (sex, county)",
        "SELECT sex, county, COUNT(*) FROM visits GROUP BY GROUPING SETS ((sex), (county))",
        "SELECT 'f' AS who, COUNT(*) FROM visits WHERE sex = 'F' UNION ALL SELECT 'm', "
        "COUNT(*) FROM visits WHERE sex = 'M'",
    ],
    "totals beside groups": [
        "SELECT county, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits) AS share FROM visits GROUP BY county",
        "SELECT COUNT(*) * 100.0 / (SELECT COUNT(*) FROM visits) AS p FROM visits WHERE age >= 65",
        "SELECT sex, SUM(cost) / MAX(t.paid) AS share FROM visits CROSS JOIN (SELECT SUM(cost) AS paid FROM visits) t "
        "GROUP BY sex",
        "WITH t AS (SELECT COUNT(*) AS n FROM visits) SELECT sex, COUNT(*) * 1.0 / t.n AS share FROM visits, t "
        "GROUP BY sex, t.n",
        "WITH g AS (SELECT county, COUNT(*) AS n FROM visits GROUP BY county), t AS (SELECT COUNT(*) AS every FROM "
        "visits) SELECT county, ROUND(100.0 * n / every, 1) AS percent FROM g CROSS JOIN t ORDER BY percent DESC",
        "SELECT county, SUM(cost) AS paid FROM visits GROUP BY county HAVING SUM(cost) > (SELECT SUM(cost) * 0.01 "
        "FROM visits)",
        "SELECT (SELECT COUNT(*) FROM visits WHERE insured) * 1.0 / (SELECT COUNT(*) FROM visits) AS share",
        "SELECT sex, AVG(cost) - (SELECT AVG(cost) FROM visits) AS more FROM visits GROUP BY sex",
    ],
    "labels of levels": [
        "SELECT COALESCE(county, 'all') AS c, COUNT(*) AS n FROM visits GROUP BY ROLLUP (county)",
        "SELECT CASE WHEN GROUPING(sex) = 1 THEN 'both' ELSE sex END AS s, AVG(cost) FROM visits GROUP BY CUBE (sex)",
        "SELECT sex, county, GROUPING(sex, county) AS level, COUNT(*) FROM visits GROUP BY CUBE (sex, county)",
        "SELECT LOWER(county) AS c, COUNT(*) FROM visits GROUP BY county",
    ],
    "names of columns in an alias": [
        "SELECT made, COUNT(*) AS many FROM (SELECT patient, COUNT(*) FROM visits GROUP BY patient) AS t (who, made) "
        "GROUP BY made ORDER BY many DESC, made DESC",
        "WITH t (s, c) AS (SELECT sex, cost FROM visits) SELECT s, AVG(c) FROM t GROUP BY s",
        "SELECT k, n FROM (SELECT county, COUNT(*) FROM visits GROUP BY county) AS t (k, n) WHERE n > 10",
    ],
    "days as text": [
        "SELECT STRFTIME(day, '%Y') AS y, COUNT(*) FROM visits GROUP BY y",
        "SELECT STRFTIME(day, '%A') AS d, COUNT(*) FROM visits GROUP BY d",
        "SELECT STRFTIME(day, '%G-W%V') AS w, COUNT(*) FROM visits GROUP BY w",
        "SELECT COUNT(*) FROM visits WHERE STRFTIME(day, '%m-%d') = '12-24'",
        "SELECT ISOYEAR(day) AS y, COUNT(*) FROM visits GROUP BY y",
        "SELECT YEARWEEK(day) AS w, COUNT(*) FROM visits GROUP BY w",
    ],
    "persons by a subquery": [
        "SELECT COUNT(DISTINCT patient) FROM visits WHERE patient IN (SELECT patient FROM visits GROUP BY patient "
        "HAVING SUM(cost) > 50)",
        "SELECT COUNT(DISTINCT v.patient) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.patient = "
        "v.patient AND w.insured)",
        "SELECT AVG(age) FROM visits WHERE patient IN (SELECT patient FROM visits WHERE insured)",
        "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
    ],
    "more windows": [
        "SELECT hours, COUNT(*) AS n, FIRST_VALUE(COUNT(*)) OVER (ORDER BY hours) AS f FROM visits GROUP BY hours",
        "SELECT hours, COUNT(*) AS n, LAST_VALUE(COUNT(*)) OVER (ORDER BY hours ROWS BETWEEN UNBOUNDED PRECEDING AND "
        "UNBOUNDED FOLLOWING) AS l FROM visits GROUP BY hours",
        "SELECT hours, COUNT(*) AS n, PERCENT_RANK() OVER (ORDER BY COUNT(*)) AS p FROM visits GROUP BY hours",
        "SELECT hours, COUNT(*) AS n, CUME_DIST() OVER (ORDER BY COUNT(*)) AS c FROM visits GROUP BY hours",
    ],
    "undeclared keys": [
        "SELECT city, COUNT(*) FROM visits GROUP BY city",
        "SELECT city, sex, COUNT(*) AS n FROM visits GROUP BY city, sex ORDER BY n DESC LIMIT 5",
        "SELECT COUNT(*) FROM visits WHERE city = 'Ashford'",
        "SELECT COUNT(*) FROM visits WHERE city LIKE 'A%'",
    ],
    "per person": [
        "SELECT AVG(n) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) AS per_patient",
        "SELECT COUNT(*) FROM (SELECT DISTINCT patient FROM visits WHERE age >= 65) AS seniors",
        "SELECT SUM(total) / COUNT(*) AS mean_total FROM (SELECT patient, SUM(cost) AS total FROM visits "
        "GROUP BY patient) t",
        "WITH per_patient AS (SELECT patient, COUNT(*) AS visits_made, MAX(cost) AS dearest FROM visits "
        "GROUP BY patient) SELECT AVG(visits_made), AVG(dearest) FROM per_patient",
        "SELECT n, COUNT(*) AS patients FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) t GROUP BY n",
        "SELECT COUNT(*) FROM (SELECT patient FROM visits GROUP BY patient HAVING SUM(cost) > 50) AS dear",
        "SELECT CASE WHEN paid < 20 THEN 'low' WHEN paid < 60 THEN 'middle' ELSE 'high' END AS band, "
        "COUNT(*) AS patients FROM (SELECT patient, COALESCE(SUM(cost), 0) AS paid FROM visits GROUP BY "
        "patient) p GROUP BY band",
        "SELECT sex, AVG(n) FROM (SELECT patient, sex, COUNT(*) AS n FROM visits GROUP BY patient, sex) t GROUP BY sex",
        "SELECT AVG(ever_insured) FROM (SELECT patient, MAX(CASE WHEN insured THEN 1 ELSE 0 END) AS "
        "ever_insured FROM visits GROUP BY patient) t",
        "SELECT AVG(c) FROM (SELECT patient, COUNT(DISTINCT county) AS c FROM visits GROUP BY patient) t",
        "SELECT MEDIAN(spent) FROM (SELECT patient, AVG(cost) AS spent FROM visits GROUP BY patient) t",
        "SELECT EXTRACT(year FROM latest) AS y, COUNT(*) FROM (SELECT patient, MAX(day) AS latest FROM "
        "visits GROUP BY patient) t GROUP BY y",
        "SELECT STDDEV_POP(h) FROM (SELECT patient, SUM(hours) AS h FROM visits WHERE insured GROUP BY patient) t",
        "SELECT AVG(share) FROM (SELECT patient, AVG(CASE WHEN age > 40 THEN 1.0 ELSE 0.0 END) AS share "
        "FROM visits GROUP BY patient) t",
        "SELECT r.region, AVG(t.n) FROM (SELECT patient, county, COUNT(*) AS n FROM visits GROUP BY "
        "patient, county) t JOIN regions r ON t.county = r.county GROUP BY r.region",
    ],
    "levels": [
        "SELECT county, COUNT(*) AS n FROM visits GROUP BY ROLLUP (county)",
        "SELECT sex, insured, AVG(cost) FROM visits GROUP BY CUBE (sex, insured)",
        "SELECT sex, county, COUNT(*) AS n, GROUPING(sex) AS rolled FROM visits GROUP BY GROUPING SETS "
        "((sex, county), (sex), ())",
        "SELECT YEAR(day) AS y, QUARTER(day) AS q, SUM(cost) AS paid FROM visits GROUP BY ROLLUP "
        "(YEAR(day), QUARTER(day))",
        "SELECT county, insured, COUNT(*) AS n FROM visits GROUP BY county, ROLLUP (insured) ORDER BY n DESC",
        "SELECT 'total' AS what, COUNT(*) AS n FROM visits UNION ALL SELECT 'insured', COUNT(*) FROM visits "
        "WHERE insured",
        "SELECT sex AS k, AVG(cost) AS c FROM visits GROUP BY sex UNION ALL SELECT county AS k, AVG(cost) "
        "AS c FROM visits GROUP BY county",
        "SELECT NULL AS county, COUNT(*) AS n FROM visits UNION ALL SELECT county, COUNT(*) AS n FROM "
        "visits GROUP BY county ORDER BY n",
    ],
    "windows": [
        "SELECT county, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM visits GROUP BY county",
        "SELECT sex, county, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY sex ORDER BY COUNT(*) DESC, "
        "county) AS r FROM visits GROUP BY sex, county",
        "SELECT DATE_TRUNC('month', day) AS m, SUM(SUM(cost)) OVER (ORDER BY DATE_TRUNC('month', day)) AS "
        "running FROM visits GROUP BY m",
        "SELECT hours, COUNT(*) AS n, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY hours) AS change FROM visits "
        "GROUP BY hours",
        "SELECT hours, AVG(COUNT(*)) OVER (ORDER BY hours ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS "
        "smooth FROM visits GROUP BY hours",
        "SELECT county, COUNT(*) AS n FROM visits GROUP BY county QUALIFY RANK() OVER (ORDER BY COUNT(*) DESC) <= 2",
        "SELECT county, COUNT(*) * 1.0 / MAX(COUNT(*)) OVER () AS relative FROM visits GROUP BY county",
        "SELECT insured, SUM(cost) AS paid, SUM(SUM(cost)) OVER () AS all_paid FROM visits GROUP BY insured",
    ],
    "subqueries about public tables": [
        "SELECT COUNT(*) FROM visits WHERE county IN (SELECT county FROM regions)",
        "SELECT sex, COUNT(*) FROM visits WHERE county NOT IN (SELECT county FROM regions WHERE region = "
        "'south') GROUP BY sex",
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM regions r WHERE r.county = v.county)",
        "SELECT AVG(cost) FROM visits WHERE county = (SELECT MIN(county) FROM regions)",
    ],
    "released rows again": [
        "SELECT SUM(n) FROM (SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex) t",
        "SELECT * FROM (SELECT county, COUNT(*) AS n FROM visits GROUP BY county) t WHERE n > 10 ORDER BY n DESC",
        "WITH c AS (SELECT county, COUNT(*) AS n, SUM(cost) AS paid FROM visits GROUP BY county) SELECT "
        "county, paid / n AS each FROM c ORDER BY each",
        "WITH c AS (SELECT county, COUNT(*) AS n FROM visits GROUP BY county) SELECT county, 100.0 * n / "
        "SUM(n) OVER () AS p FROM c",
        "SELECT MAX(n) - MIN(n) AS spread FROM (SELECT county, COUNT(*) AS n FROM visits GROUP BY county) t",
    ],
    "groups only": [
        "SELECT DISTINCT city FROM visits",
        "SELECT city FROM visits GROUP BY city",
        "SELECT DISTINCT county, city FROM visits",
        "SELECT city FROM visits GROUP BY city ORDER BY city LIMIT 2",
    ],
    "more of each": [
        "SELECT COUNT(*) FROM visits WHERE city IN ('Ashford', 'Elmton')",
        "SELECT sex, COUNT(*) FROM visits WHERE city <> 'Oakham' GROUP BY sex",
        "SELECT AVG(CASE WHEN hours > 0 THEN cost / hours END) AS rate FROM visits",
        "SELECT AVG(cost / NULLIF(hours, 0)) FROM visits",
        "SELECT SUM(cost) / NULLIF(COUNT(cost), 0) AS m FROM visits",
        "SELECT sex, SUM(CASE WHEN diagnosis = 'a' THEN 1 ELSE 0 END) AS a, SUM(CASE WHEN diagnosis = 'b' "
        "THEN 1 ELSE 0 END) AS b FROM visits GROUP BY sex",
        "SELECT county, SUM(cost * (1 - 0.1)) AS net, SUM(cost * (1 - 0.1) * (1 + 0.2)) AS gross, "
        "AVG(hours) AS h, COUNT(*) AS n FROM visits WHERE day <= DATE '2021-09-02' GROUP BY county ORDER BY "
        "county",
        "SELECT SUM(cost * 0.05) AS revenue FROM visits WHERE day >= DATE '2020-06-01' AND day < DATE "
        "'2020-06-01' + INTERVAL '1' YEAR AND hours < 15 AND cost BETWEEN 5 AND 70",
        "SELECT 100.00 * SUM(CASE WHEN diagnosis LIKE 'a%' THEN cost ELSE 0 END) / SUM(cost) AS promo FROM visits",
        "SELECT CASE WHEN age < 20 THEN '0-19' WHEN age BETWEEN 20 AND 39 THEN '20-39' ELSE '40+' END AS "
        "age_group, sex, COUNT(DISTINCT patient) AS patients FROM visits GROUP BY age_group, sex ORDER BY "
        "age_group, sex",
        "SELECT county, AVG(cost) AS c FROM visits GROUP BY county HAVING COUNT(DISTINCT patient) >= 50 "
        "ORDER BY c DESC LIMIT 1",
        "SELECT COUNT(*) AS n, MIN(age) FROM visits",
        "SELECT insured, COUNT(*) AS n, ROUND(AVG(cost), 2) AS c, ROUND(STDDEV(cost), 2) AS s FROM visits "
        "GROUP BY insured",
        "SELECT MONTHNAME(day) AS m, COUNT(*) FROM visits WHERE YEAR(day) = 2020 GROUP BY m",
        "SELECT COUNT(DISTINCT CASE WHEN insured THEN patient END) AS insured_patients FROM visits",
        "SELECT 'all' AS label, COUNT(*) AS n, AVG(age) AS age FROM visits",
        "SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY age) FROM visits",
        "SELECT APPROX_QUANTILE(cost, 0.9) FROM visits",
        "SELECT sex, county, COUNT(*) FROM visits GROUP BY (sex, county)",
        "SELECT visits.sex, regions.region, COUNT(*) FROM visits, regions WHERE visits.county = "
        "regions.county GROUP BY 1, 2",
        "SELECT age, COUNT(*) FROM visits GROUP BY age HAVING age BETWEEN 30 AND 35 ORDER BY age",
        "SELECT STRFTIME(day, '%Y-%m') AS ym, COUNT(*) FROM visits GROUP BY ym",
        "SELECT CAST(day AS VARCHAR) AS d, COUNT(*) FROM visits WHERE day < '2020-01-10' GROUP BY d",
        "SELECT WIDTH_BUCKET(age, 0, 100, 5) AS b, COUNT(*) FROM visits GROUP BY b",
        "SELECT ANY_VALUE(sex), COUNT(*) FROM visits GROUP BY sex",
    ],
}
"""Statements in the spelling of DuckDB, by construct."""

DIALECTS: dict[str, list[str]] = {
    "postgres": [
        "SELECT to_char(day, 'YYYY-MM') AS m, count(*) FROM visits GROUP BY 1",
        "SELECT date_trunc('month', day)::date AS m, count(*) FROM visits GROUP BY 1",
        "SELECT extract(dow FROM day) AS d, count(*) FROM visits GROUP BY d",
        "SELECT age / 10 AS decade, count(*) FROM visits GROUP BY decade",
        "SELECT avg(cost::numeric) FROM public.visits WHERE county ILIKE 'a%'",
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM visits",
        "SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY age DESC) FROM visits",
        "SELECT sex, count(*) FILTER (WHERE insured) * 100.0 / count(*) AS p FROM visits GROUP BY ROLLUP (sex)",
        "SELECT avg(n) FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) AS t",
    ],
    "spark": [
        "SELECT date_format(day, 'yyyy-MM') AS m, count(*) FROM visits GROUP BY 1",
        "SELECT percentile_approx(cost, 0.5) FROM visits",
        "SELECT age div 10 AS decade, count(*) FROM visits GROUP BY age div 10",
        "SELECT `sex`, count(1) FROM `visits` GROUP BY `sex`",
        "SELECT year(day), count(*) FROM visits GROUP BY year(day)",
        "SELECT count_if(age > 50) FROM visits",
        "SELECT percentile(cost, 0.25) FROM visits",
        "SELECT sex, county, count(*) FROM visits GROUP BY sex, county WITH ROLLUP",
        "SELECT nvl(diagnosis, 'none') AS d, count(*) FROM visits GROUP BY nvl(diagnosis, 'none')",
    ],
    "bigquery": [
        "SELECT FORMAT_DATE('%Y-%m', day) AS m, COUNT(*) FROM visits GROUP BY m",
        "SELECT COUNTIF(age > 50) FROM `project.dataset.visits`",
        "SELECT DATE_TRUNC(day, MONTH) AS m, COUNT(*) FROM visits GROUP BY m",
        "SELECT EXTRACT(DAYOFWEEK FROM day) AS d, COUNT(*) FROM visits GROUP BY d",
        "SELECT SAFE_DIVIDE(SUM(cost), COUNT(*)) FROM visits",
        'SELECT COUNT(*) FROM visits WHERE sex = "F"',
        "SELECT IF(insured, 'yes', 'no') AS i, COUNT(*) FROM visits GROUP BY i",
        "SELECT APPROX_QUANTILES(cost, 100)[OFFSET(50)] FROM visits",
    ],
    "tsql": [
        "SELECT FORMAT(day, 'yyyy-MM') AS m, COUNT(*) FROM visits GROUP BY FORMAT(day, 'yyyy-MM')",
        "SELECT AVG(DATEDIFF(day, '2020-01-01', [day])) FROM visits",
        "SELECT TOP 2 county, COUNT(*) AS n FROM dbo.visits GROUP BY county ORDER BY n DESC",
        "SELECT [sex], COUNT(*) FROM [visits] GROUP BY [sex]",
        "SELECT IIF(age >= 65, 'senior', 'other') AS g, COUNT(*) FROM visits GROUP BY IIF(age "
        ">= 65, 'senior', 'other')",
        "SELECT DATEPART(year, day) AS y, COUNT_BIG(*) FROM visits GROUP BY DATEPART(year, day)",
        "SELECT AVG(ISNULL(cost, 0)) FROM visits",
        "SELECT STDEV(cost) FROM visits",
    ],
    "mysql": [
        "SELECT DATE_FORMAT(day, '%Y-%m') AS m, COUNT(*) FROM visits GROUP BY m",
        "SELECT IF(age >= 65, 'senior', 'other') AS g, COUNT(*) FROM visits GROUP BY g",
        "SELECT AVG(IFNULL(cost, 0)) FROM `visits`",
        "SELECT age DIV 10 AS decade, COUNT(*) FROM visits GROUP BY decade",
    ],
    "trino": [
        "SELECT approx_percentile(cost, 0.5) FROM visits",
        "SELECT date_trunc('month', day) AS m, count(*) FROM visits GROUP BY 1",
        "SELECT count_if(insured), count(*) FROM visits",
    ],
    "sqlite": [
        "SELECT county, COUNT(*) AS n FROM visits GROUP BY county HAVING n > 5",
        "SELECT AVG(IFNULL(cost, 0)) FROM visits",
    ],
    "snowflake": [
        "SELECT APPROX_PERCENTILE(cost, 0.9) FROM visits",
        "SELECT county, COUNT(*) AS n FROM visits GROUP BY county QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC) <= 2",
        "SELECT IFF(insured, 1, 0) AS i, COUNT(*) FROM visits GROUP BY i",
        "SELECT COUNT_IF(age > 50) FROM VISITS",
    ],
}
"""The same constructs as other systems spell them."""

MEANT = {
    "SELECT APPROX_COUNT_DISTINCT(patient) FROM visits": "SELECT COUNT(DISTINCT patient) FROM visits",
    "SELECT sex, county, count(*) FROM visits GROUP BY sex, county WITH ROLLUP": (
        "SELECT sex, county, count(*) FROM visits GROUP BY ROLLUP (sex, county)"
    ),
    "SELECT age / 10 AS decade, count(*) FROM visits GROUP BY decade": (
        "SELECT age // 10 AS decade, count(*) FROM visits GROUP BY decade"
    ),
    "SELECT EXTRACT(DAYOFWEEK FROM day) AS d, COUNT(*) FROM visits GROUP BY d": (
        "SELECT EXTRACT(dow FROM day) + 1 AS d, COUNT(*) FROM visits GROUP BY d"
    ),
}
"""What a spelling means in DuckDB where a translation keeps its words: whole numbers divide to whole ones in
PostgreSQL, and weeks begin with day 1 in BigQuery. What DuckDB only estimates is counted.
"""
