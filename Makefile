# For people who try bayeseval or work on it. Needs python3 (3.11 or later), pip and make; `make help` lists the targets.

PYTHON ?= python3
VENV ?= .venv
# Options of pytest, for example: make test PYTEST="-n 0 -k moments"
PYTEST ?= -n auto --maxprocesses=4 --dist=loadfile

BIN := $(VENV)/bin
INPUTS := $(VENV)/.made pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test format lint types docs notebooks benchmark calibration packaging constraints clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /  \1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

demo: $(VENV)/.ready ## set up, then run the main job on data shipped with the package; ends with the path of a report
	@$(BIN)/bayeseval demo

test: $(VENV)/.ready-test ## set up, then run the tests and the examples of the docstrings
	@$(BIN)/python -m pytest $(PYTEST)

format: $(VENV)/.ready-dev ## lay out the code and mend what can be mended by machine
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lint: $(VENV)/.ready-dev ## layout, imports, docstrings
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

types: $(VENV)/.ready-dev ## type hints
	@$(BIN)/mypy

docs: $(VENV)/.ready-dev ## build the documentation, which runs every notebook once; warnings are errors
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "build/docs/index.html"

notebooks: $(VENV)/.ready-dev ## write notebooks/*.py as executed .ipynb files to build/notebooks
	@mkdir -p build/notebooks
	@for source in notebooks/*.py; do \
	  $(BIN)/jupytext --quiet --to ipynb --execute --output "build/notebooks/$$(basename "$$source" .py).ipynb" "$$source" \
	    || exit 1; \
	done
	@ls build/notebooks/*.ipynb

benchmark: $(VENV)/.ready-test ## print the speeds and agreements that the project promises
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python "$$script" || exit 1; done

calibration: $(VENV)/.ready-test ## coverage and simulation-based calibration anew, to docs/calibration; then the long tests
	@$(BIN)/python scripts/calibrate.py
	@$(BIN)/python -m pytest $(PYTEST) -m slow

packaging: $(VENV)/.ready-dev ## build, install in every supported way, and look for the model catalogue
	@$(BIN)/python scripts/check_packaging.py

constraints: ## write constraints.txt anew from the newest releases (needs python3.11 and python3.12)
	@python3.11 scripts/pin.py python3.11 python3.12 > constraints.new
	@mv constraints.new constraints.txt

clean: ## remove what was built; environments stay
	@rm -rf build dist docs/_generated .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find bayeseval models tests benchmarks scripts docs notebooks -name __pycache__ -prune -exec rm -rf {} +

# The environment. Each step leaves a file, so that it is taken once, and again when the dependencies change.
# Some systems ship Python without ensurepip: there the pip of $(PYTHON) puts a pip into the environment.
$(VENV)/.made:
	@command -v "$(PYTHON)" > /dev/null || { echo "No $(PYTHON) found: bayeseval needs Python 3.11 or later." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "bayeseval needs Python 3.11 or later, but $(PYTHON) is $$($(PYTHON) -V 2>&1)." \
	    "Name another one: make PYTHON=python3.12" >&2; exit 1; }
	@echo "Making an environment in $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV) > /dev/null 2>&1 \
	  || { $(PYTHON) -m venv --clear --without-pip $(VENV) \
	       && $(PYTHON) -m pip --python $(BIN)/python install --quiet --quiet pip; }
	@touch $@

define install
@echo "Installing bayeseval$(1) and what it needs into $(VENV); the first time takes a few minutes"
@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check -c constraints.txt --editable '.$(1)'
@touch $@
endef

$(VENV)/.ready: $(INPUTS)
	$(call install)

$(VENV)/.ready-test: $(INPUTS)
	$(call install,[test])
	@touch $(VENV)/.ready

$(VENV)/.ready-dev: $(INPUTS)
	$(call install,[dev])
	@touch $(VENV)/.ready $(VENV)/.ready-test
