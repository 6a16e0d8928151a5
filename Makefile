# Two commands: `make demo` shows it, `make test` proves it. Both need Python >= 3.11 and make, nothing else. The first
# installs what it shows; the second brings the rest. `make quick` is the part of the tests to run all day.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
SHOWN := $(VENV)/demo-installed

NEWER := 'import sys; sys.exit(sys.version_info < (3, 11) and "discreet needs Python 3.11 or newer; run make PYTHON=python3.12")'

# Many short programs are started: what Python compiled for one, the next need not compile again.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test quick lint lowest wheel audit bench docs strings clean

demo: $(SHOWN)
	@$(BIN)/discreet demo

# loadfile: the tests of a file share a worker, and with it what they set up; tests/order.py says which begin.
test: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist loadfile $(PYTEST)

# What changes most often and fails first, without Spark, browsers, servers, many samples and the longest files:
# QUICK=tests/query for a part.
QUICK ?= tests/core tests/noise tests/accounting tests/ledger tests/curator tests/query tests/data tests/apps/cli tests/test_house.py tests/test_architecture.py
LENGTHY := core/test_decision accounting/test_training ledger/test_door query/test_engines query/test_quantile_plan query/test_tally query/test_stream_step query/test_estimate data/test_dialect data/test_source data/test_record data/test_pool data/expression/test_compile apps/cli/test_examples apps/cli/test_demo apps/cli/test_train apps/cli/test_train_images apps/cli/test_calibrate
quick: $(STAMP)
	$(BIN)/python -m pytest -q -n auto --dist loadfile -m 'not spark and not statistical and not large' $(QUICK) $(LENGTHY:%=--ignore=tests/%.py)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The oldest dependencies pyproject.toml promises, in an environment of their own.
lowest: $(VENV)-lowest/installed
	$(VENV)-lowest/bin/python -m pytest -q -n auto -m 'not spark and not statistical' tests/core tests/noise tests/apps/cli/test_ask.py tests/query/test_compile.py tests/curator/test_curator.py tests/data/test_pool.py tests/test_house.py

$(VENV)-lowest/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip install -q --disable-pip-version-check uv
	$(VENV)-lowest/bin/uv pip compile -q --resolution lowest-direct --python $(VENV)-lowest pyproject.toml -o $(VENV)-lowest/lowest.txt
	$(VENV)-lowest/bin/uv pip install -q --python $(VENV)-lowest -e '.[test]' -c $(VENV)-lowest/lowest.txt
	@touch $@

# The wheel, used as a stranger would in clean environments; WHEEL=--all for every extra, pipx and uvx.
wheel: $(STAMP)
	$(BIN)/python .ci/wheel.py $(WHEEL)

# Every guarantee of the house attacked, and every planted bug caught, or it fails.
audit: $(STAMP)
	$(BIN)/discreet audit self --tier 1

# BENCH=--quick for the short form; one line of JSON a figure with BENCH=--json.
bench: $(STAMP)
	@for area in noise accounting ledger release groupby scale sql coverage quantile hierarchy hierarchy_counting hierarchy_accuracy hierarchy_published hierarchy_covariate hierarchy_queries hierarchy_paper decisions mobility power commute rap synth synth_scale synth_values learn_speed learn_mnist learn_cifar learn_prior learn_practice learn_estimators local audit risk risk_report server agency startup compare; do $(BIN)/python bench/$$area.py $(BENCH) || exit 1; done

docs: $(STAMP)
	$(BIN)/python -m pip install -q -e '.[docs]'
	$(BIN)/mkdocs build --strict

# Every text that a person may read, as a gettext template: STRINGS=some/where.pot for another file.
STRINGS ?= build/discreet.pot
strings: $(STAMP)
	@mkdir -p $(dir $(STRINGS))
	$(BIN)/python .ci/strings.py $(STRINGS)

# Python compiles what is used when it is used: a third less to write, and half the time.
$(SHOWN): pyproject.toml
	@[ -f $(STAMP) ] || { $(PYTHON) -c $(NEWER) && $(PYTHON) -m venv $(VENV) && \
	  $(BIN)/python -m pip install -q --no-compile --disable-pip-version-check -e '.[server]'; }
	@touch $@

$(STAMP): pyproject.toml
	$(PYTHON) -c $(NEWER)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-lowest build dist site .bench
