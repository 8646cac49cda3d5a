# make demo | test | check | docs | fuzz | bench | wheel | kernels | format | clean
# Everything lives in .venv, made from $(PYTHON) and the pinned versions of constraints.txt.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet --no-compile --constraint constraints.txt
WORKERS ?= 2
SECONDS ?= 600

.PHONY: demo test check docs fuzz bench wheel compiled kernels format clean

demo: $(VENV)/installed
	$(BIN)/pliant demo

# The browser comes while pip makes the environment; kernels are compiled while pip, which works by one core, unpacks what
# only tests need; their workers find them. Tests that fail run once more with assertions that show their values, which
# would take seconds to prepare for all tests.
test:
	$(MAKE) --no-print-directory -j 3 $(VENV)/browser compiled $(VENV)/installed-test
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "not again" --assert=plain \
		|| { $(BIN)/python -m pytest -q --last-failed --last-failed-no-failures none; exit 1; }

check: $(VENV)/installed-test $(VENV)/installed-check docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict
	$(BIN)/python -m pytest -q -m "not again" tests/architecture tests/documents
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "again"
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n $(WORKERS) -m "bounds"

# build/site/index.html: pages for a browser, made and read without a network; broken links end it.
docs: $(VENV)/installed-docs
	$(BIN)/python -m docs.site.build build/site

# Nonsense in bulk: robot files, public names, components, commands, damaged results and caches.
fuzz: $(VENV)/installed-test compiled
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS)

bench: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks

# With the machine code of all kernels, for the processors of src/pliant/jit/store.py.
wheel: $(VENV)/installed
	$(PIP) wheel --quiet --no-build-isolation --no-deps --wheel-dir dist .

compiled: $(VENV)/compiler
	PYTHONPATH=src $(BIN)/python -m pliant.jit

# To be made anew when kernels get other arguments: the list of kernels that are compiled ahead.
kernels: $(VENV)/installed-test
	$(BIN)/python -m tests.record_kernels

format: $(VENV)/installed-check
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

# A stamp per extra: a second call installs nothing unless the list of packages changed.

# All that kernels need to be compiled, which takes longest: it comes first. Setuptools builds what is installed later.
$(VENV)/compiler: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) setuptools numba numpy
	touch $@

$(VENV)/installed: $(VENV)/compiler pyproject.toml
	$(INSTALL) --no-build-isolation --editable .
	touch $@

# The viewer is tested in a real browser: one that is there, or Debian's.
BROWSERS := chromium chromium-browser google-chrome
$(VENV)/browser:
	for each in $(BROWSERS); do command -v $$each && exit; done; \
	as_root=$$([ $$(id -u) -eq 0 ] || echo sudo); \
	$$as_root apt-get update -qq && $$as_root apt-get install -qq -y --no-install-recommends chromium
	mkdir -p $(VENV)
	touch $@

# Byte code for those who start Python often; pip would make it of what nobody imports too. One process takes two thirds
# of the time that several spend together, and kernels are compiled beside it.
$(VENV)/installed-%: $(VENV)/compiler pyproject.toml
	$(INSTALL) --no-build-isolation --editable ".[$*]"
	-$(BIN)/python -m compileall -q -x '/(tests?|pip|mypyc?|lexers)/' $(VENV)/lib src > /dev/null
	touch $(VENV)/installed $@
