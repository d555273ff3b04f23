# All targets for developers. Each first builds what it needs, if that is out of date.

VENV := .venv
BIN := $(VENV)/bin
RUST := Cargo.toml Cargo.lock .cargo/config.toml \
        $(shell find crates -name Cargo.toml -o -path '*/src/*.rs')
MATURIN := env -u CONDA_PREFIX VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release

export PATH := $(PATH):$(HOME)/.cargo/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Versions that work together; `make PIP_CONSTRAINT= test` takes the newest.
export PIP_CONSTRAINT := constraints.txt
# The tests start rtolab a thousand times. Each start takes a fifth longer without bytecode.
unexport PYTHONDONTWRITEBYTECODE
# Tests need every crate once: in one piece it takes the least time. `cargo test` by hand compiles
# for changes instead, into other files.
export CARGO_INCREMENTAL ?= 0
export CARGO_PROFILE_DEV_CODEGEN_UNITS ?= 1
export CARGO_PROFILE_DEV_DEBUG ?= 0

.PHONY: help demo test test-all test-rust test-python bench bench-peers bench-check packetdrill captures lint lint-rust lint-python \
        soak miri audit sbom lint-prose docs docs-rust web npm bench-web shell dist clean

help:
	@echo 'make demo     measure the tables of the F-RTO report, beside the published ones'
	@echo 'make test     run the tests, of Rust and of Python'
	@echo 'make test-all  run also the tests of Python that take seconds each, or a browser'
	@echo 'make bench    measure the speed of parts, of whole runs, and of the bare event queue'
	@echo 'make bench-peers  measure the speed beside ns-2 and ns-3, if they are installed'
	@echo 'make bench-check  count instructions per packet, and compare with the recorded counts'
	@echo 'make packetdrill PACKETDRILL=path  run packetdrill scripts on the engine'
	@echo 'make captures  score the diagnosis on captures with known ground truth'
	@echo 'make lint     check formatting, lints, types and prose'
	@echo 'make soak     run the tests that take hours: many seeds, many packets, fuzzing'
	@echo 'make miri     run tests of unsafe code in Miri: the adapter for packetdrill, tables for Arrow'
	@echo 'make audit    check the dependencies: licences, sources, known vulnerabilities'
	@echo 'make sbom     write the bill of materials of a wheel to dist/'
	@echo 'make docs     build the guide as a site in site/'
	@echo 'make docs-rust  build the documentation of the Rust crates'
	@echo 'make web      build the explorer without a server in target/web/'
	@echo 'make npm      build the engine as an npm package in target/npm/'
	@echo 'make bench-web  measure speed and size of the explorer in Chromium'
	@echo 'make shell    write the manual pages and completions that the wheel contains'
	@echo 'make dist     build wheel and source archive in dist/, try them, and package the crates'
	@echo 'make clean    delete everything that was built'

demo: $(VENV)/built
	@$(BIN)/rtolab demo

test: test-rust test-python

test-rust: $(VENV)/dev
	cargo test --workspace --quiet

# In two processes; a module's tests run in one of them.
test-python: $(VENV)/dev
	$(BIN)/pytest --numprocesses 2 $(if $(CI)$(ALL),,-m 'not (slow or browser)')

# With the tests that take seconds each, and those in a browser. CI=true includes them, too.
test-all: ALL := yes
test-all: test

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

# As root it also makes captures on a kernel.
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

# Phrases, line widths, names of types; spelling; Markdown.
lint-prose: $(VENV)/dev
	tools/prose
	$(BIN)/typos --quiet || { $(BIN)/typos --format brief; exit 1; }
	$(BIN)/pymarkdown scan *.md docs docs/papers crates/*/README.md

soak: $(VENV)/dev
	tools/soak

# The other unsafe code maps files and opens sockets, which Miri does not have.
miri:
	@cargo +nightly miri --version >/dev/null 2>&1 || \
	    { echo 'Install Miri:  rustup +nightly component add miri rust-src' >&2; exit 2; }
	MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test --quiet --target-dir target/miri \
	    -p rtolab-packetdrill -p rtolab-table

# Needs the network for the databases of advisories. Names tools that are missing.
audit: $(VENV)/dev
	@command -v cargo-deny >/dev/null || \
	    { echo 'Install cargo-deny:  cargo install --locked cargo-deny' >&2; exit 2; }
	cargo deny check
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/pip-audit --skip-editable

# Needs the network for the hashes of Python's packages.
sbom: $(VENV)/dev
	@mkdir -p dist
	$(BIN)/python tools/sbom dist/rtolab.cdx.json

# Building it runs its figures and notebooks, and generates its reference.
docs: $(VENV)/dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo 'The guide begins at site/index.html'

docs-rust:
	@tools/prerequisites >/dev/null
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --quiet
	@echo 'The documentation begins at target/doc/rtolab_sim/index.html'

# Needs the Rust target wasm32-unknown-unknown and clang; names what is missing.
web: $(VENV)/dev
	@$(BIN)/python tools/web target/web
	@echo 'The explorer begins at target/web/index.html; target/web/explorer.html is one file.'

# As `make web`. `npm pack target/npm` makes an archive.
npm: $(VENV)/dev
	@$(BIN)/python tools/npm target/npm
	@echo 'The package is in target/npm; its README.md has an example.'

bench-web: web
	@$(BIN)/python benches/web.py target/web

shell: $(VENV)/built
	$(BIN)/python tools/shell wheel/data/share

# Crates for this repository only.
PRIVATE := explorer fuzz-models live packetdrill py web web-captures

# Wheel and archive are tried with the newest dependencies, as users install them.
dist: $(VENV)/dev
	rm -rf dist
	$(BIN)/maturin sdist --out dist
	MATURIN=$(BIN)/maturin tools/build-wheel dist --quiet
	PIP_CONSTRAINT= tools/try-wheel dist/*.whl
	PIP_CONSTRAINT= tools/try-sdist dist/*.tar.gz
	cargo package --workspace $(PRIVATE:%=--exclude rtolab-%) --no-verify --allow-dirty --quiet

clean:
	rm -rf $(VENV) target site dist

# A virtual environment with the package, editable, and its dependencies. pip installs these while
# cargo compiles.
$(VENV)/installed: pyproject.toml constraints.txt crates/py/Cargo.toml
	@python=$$(tools/prerequisites) || exit; \
	$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	    "$$python" -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet 'maturin>=1.9.4,<2'
	@echo 'Building rtolab; the first time takes a few minutes.'
	@$(BIN)/python tools/dependencies $(EXTRA) | \
	    $(BIN)/python -m pip install --quiet --requirement /dev/stdin & \
	$(MATURIN) --skip-install; built=$$?; wait $$! && exit $$built
	@$(MATURIN)
	@touch $@

# The extension, rebuilt if its source has changed.
$(VENV)/built: $(VENV)/installed $(RUST)
	@tools/prerequisites >/dev/null
	@$(MATURIN) --skip-install
	@touch $@

# Further tools of tests and lints.
$(VENV)/dev: EXTRA := dev
$(VENV)/dev: pyproject.toml constraints.txt $(VENV)/built
	@$(MATURIN) --extras dev
	@touch $@
