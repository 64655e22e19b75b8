# make run         set up, build the demo study, open the window on it
# make run LIGHT=1 the same without torch and pyiqa
# make test        set up, then linter, type checker, import contracts and tests
# make bench       set up, then the benchmarks
# make screenshots draw the pictures of docs/tour.md from the demo study
# make package     build the program for other machines and try it out; FLAVOUR=annotator (without torch) or full
.PHONY: run test lint bench screenshots package setup

METRICS = $(if $(LIGHT),,metrics)
BIN = .venv/bin

run:
	@sh packaging/setup.sh $(METRICS)
	@$(BIN)/banana100 demo demo/demo.b100

test: lint
	@QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest --numprocesses logical --maxprocesses 4 --dist worksteal

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	@$(BIN)/python -m tests.benchmarks $(ONLY)

screenshots:
	@sh packaging/setup.sh
	@$(BIN)/banana100 demo --no-window demo/demo.b100
	@QT_QPA_PLATFORM=offscreen $(BIN)/python packaging/screenshots.py demo/demo.b100 docs/tour

package:
	@sh packaging/setup.sh
	@$(BIN)/python packaging/build.py $(or $(FLAVOUR),annotator)

setup:
	@sh packaging/setup.sh metrics dev
