# Everything a person types here. Each target makes what it needs first, and only what has changed.

VENV := .venv
BIN := $(VENV)/bin
RUST := Cargo.toml Cargo.lock .cargo/config.toml \
        $(shell find crates -name Cargo.toml -o -path '*/src/*.rs')
MATURIN := env -u CONDA_PREFIX VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release

export PATH := $(PATH):$(HOME)/.cargo/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Versions that are known to fit together; `make PIP_CONSTRAINT= test` takes the newest.
export PIP_CONSTRAINT := constraints.txt

.PHONY: help demo test bench bench-peers bench-check packetdrill captures lint lint-rust lint-python \
        soak audit lint-prose docs docs-rust shell dist clean

help:
	@echo 'make demo     the F-RTO report measured on this machine, beside what it published'
	@echo 'make test     every test, of Rust and of Python'
	@echo 'make bench    how fast it is: parts, whole runs, and how far from the limit'
	@echo 'make bench-peers  how fast it is beside ns-2 and ns-3, where they are installed'
	@echo 'make bench-check  how many instructions a packet takes, and whether more than before'
	@echo 'make packetdrill PACKETDRILL=path  scripts of packetdrill, by its binary, on the engine'
	@echo 'make captures  captures whose truth is known, and how much of it the diagnosis finds'
	@echo 'make lint     formatting, lints and types'
	@echo 'make soak     what takes hours: many seeds, many packets, arbitrary input'
	@echo 'make audit    what is known of the dependencies: licences, sources, faults'
	@echo 'make docs     the guide, as a site in site/'
	@echo 'make docs-rust  the documentation of the Rust crates'
	@echo 'make shell    manual pages and completions, which the wheel brings along'
	@echo 'make dist     wheel and source archive in dist/, installed and tried; the crates packaged'
	@echo 'make clean    forget what was built'

demo: $(VENV)/built
	@$(BIN)/rtolab demo

test: $(VENV)/dev
	cargo test --workspace --quiet
	$(BIN)/pytest

bench: $(VENV)/built
	benches/run

bench-peers:
	@tools/prerequisites >/dev/null
	benches/run --peers

bench-check:
	@tools/prerequisites >/dev/null
	benches/run --check

# SCRIPTS: *.pkt files, or folders of them.
packetdrill: SCRIPTS ?= tests/packetdrill
packetdrill:
	@test -n '$(PACKETDRILL)' || { echo 'PACKETDRILL=path of the packetdrill binary?' >&2; exit 2; }
	@cargo build --release --quiet -p rtolab-packetdrill
	@tools/packetdrill --tool '$(PACKETDRILL)' $(SCRIPTS)

# As root a kernel makes some of them.
captures: $(VENV)/dev
	$(BIN)/python tools/captures out/captures

lint: lint-rust lint-python lint-prose

lint-rust:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo check --manifest-path tools/without-std/Cargo.toml --target-dir target/without-std \
	    --locked --quiet

lint-python: $(VENV)/dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/stubtest rtolab._rtolab

# The language: phrases, widths, names of types; spelling; Markdown.
lint-prose: $(VENV)/dev
	tools/prose
	$(BIN)/typos --quiet || { $(BIN)/typos --format brief; exit 1; }
	$(BIN)/pymarkdown scan *.md docs

soak: $(VENV)/dev
	tools/soak

# Asks the databases of advisories, so that it needs the network; what is not installed is named.
audit: $(VENV)/dev
	@command -v cargo-deny >/dev/null || \
	    { echo 'Install cargo-deny:  cargo install --locked cargo-deny' >&2; exit 2; }
	cargo deny check
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/pip-audit --skip-editable

# Its figures are runs, its notebooks are executed, its reference is what rtolab knows of itself.
docs: $(VENV)/dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo 'The guide begins at site/index.html'

docs-rust:
	@tools/prerequisites >/dev/null
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --quiet
	@echo 'The documentation begins at target/doc/rtolab_sim/index.html'

shell: $(VENV)/built
	$(BIN)/python tools/shell wheel/data/share

# The crates that nobody but this repository uses.
PRIVATE := fuzz-models live packetdrill py

# Wheel and archive are tried with the newest of what they depend on, as their users have it.
dist: $(VENV)/dev
	rm -rf dist
	$(BIN)/maturin sdist --out dist
	$(BIN)/maturin build --release --quiet --out dist
	PIP_CONSTRAINT= tools/try-wheel dist/*.whl
	PIP_CONSTRAINT= tools/try-sdist dist/*.tar.gz
	cargo package --workspace $(PRIVATE:%=--exclude rtolab-%) --no-verify --allow-dirty --quiet

clean:
	rm -rf $(VENV) target site dist

# A virtual environment with what the package depends on, and the package itself, editable.
$(VENV)/installed: pyproject.toml constraints.txt crates/py/Cargo.toml
	@python=$$(tools/prerequisites) || exit; \
	$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	    "$$python" -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet 'maturin>=1.9.4,<2'
	@echo 'Building rtolab; the first time takes a few minutes.'
	@$(MATURIN)
	@touch $@

# The extension, built again when its source has changed.
$(VENV)/built: $(VENV)/installed $(RUST)
	@tools/prerequisites >/dev/null
	@$(MATURIN) --skip-install
	@touch $@

# What tests and lints need besides.
$(VENV)/dev: pyproject.toml constraints.txt $(VENV)/built
	@$(MATURIN) --extras dev
	@touch $@
