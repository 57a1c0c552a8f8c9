# The two commands of the README, and what they stand on.
#   make demo        grounded captions of photographs by the shipped captioner: seconds
#   make demo-train  the same from nothing: scenes, training, export, server: minutes
#   make test        lint and every test, under Bazel
#   make setup       the virtual environment alone; GPU=1 for the CUDA wheels
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
REQUIREMENTS := $(if $(GPU),requirements-gpu.txt,requirements.txt)
STAMP := $(VENV)/.installed-$(shell cat $(REQUIREMENTS) requirements.lock | sha256sum | cut -c1-16)

.PHONY: help setup demo demo-train test lint format build-files lock hashes bazel chromium clean

help:
	@sed -n '2,5s/^# *//p' Makefile

setup: $(STAMP)

$(STAMP):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or later is needed; say which with: make PYTHON=python3.11"; exit 1; }
	@echo "Setting up $(VENV) (about two minutes, once)"
	@test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-warn-script-location \
	  -r $(REQUIREMENTS) -c requirements.lock
	@$(VENV)/bin/python -m pip check
	@rm -f $(VENV)/.installed-* && touch $@

demo: setup
	@$(RUN) -m trainers.demo

demo-train: setup
	@$(RUN) -m trainers.demo_train

test: setup bazel chromium lint
	@tools/run_bazel test $(BAZEL_FLAGS) //...

lint: setup
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check --quiet . || { $(VENV)/bin/ruff format --diff .; exit 1; }
	@$(VENV)/bin/python tools/build_files.py --check
	@$(VENV)/bin/python tools/check_tree.py
	@$(VENV)/bin/python -m trainers.results --check

format: setup
	@$(VENV)/bin/ruff check --fix .
	@$(VENV)/bin/ruff format .
	@$(VENV)/bin/python tools/build_files.py

build-files: setup
	@$(VENV)/bin/python tools/build_files.py

bazel:
	@tools/run_bazel --ensure

chromium:
	@tools/ensure_chromium

lock: setup
	@{ echo '# The whole resolved set behind requirements.txt. Renew with `make lock`.'; \
	  $(VENV)/bin/python -m pip freeze; } > requirements.lock

hashes: setup
	@$(VENV)/bin/python tools/hash_lock.py

clean:
	rm -rf $(VENV) demo bazel-*
