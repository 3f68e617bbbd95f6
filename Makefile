# Everything a developer or a pipeline runs. `make` alone lists the targets; the list is made from the comments behind them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
BUILT   ?= $(shell git log -1 --format=%cI 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT) -X main.builtAt=$(BUILT)

# The tools are built once into a cache folder that is named after what tools/go.sum says; a cold build takes minutes.
TOOLS_KEY := $(shell cksum tools/go.sum | cut -d' ' -f1)
TOOLS_DIR := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/mockbase-tools/$(TOOLS_KEY)
LINT      := $(TOOLS_DIR)/golangci-lint
DEADCODE  := $(TOOLS_DIR)/deadcode

FUZZTIME ?= 30s

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

# ---- product

.PHONY: build
build: ## build bin/mockbase, static
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/mockbase ./cmd/mockbase

.PHONY: run
run: build ## start the full server on 127.0.0.1:8080, data in ./mockbase-data
	./bin/mockbase serve

.PHONY: docker
docker: ## build the image mockbase:dev
	docker build --build-arg VERSION=$(VERSION) --build-arg COMMIT=$(COMMIT) --build-arg BUILT_AT=$(BUILT) -t mockbase:dev .

# ---- tests

.PHONY: setup
setup: ## install what the tests need and this machine lacks
	@.ci/setup

# SQLite is C that was translated to Go. It keeps everything in memory of its own that the race detector does not look at, so
# that watching it finds nothing, and is most of what a run costs. The code that calls it is watched.
SQLITE := modernc.org/sqlite/lib

.PHONY: test
test: setup ## every test, with the race detector, against real parts
	CGO_ENABLED=1 $(GO) test -race -gcflags='$(SQLITE)=-race=false' -timeout 20m ./...

.PHONY: short
short: setup ## the fast tests, without the race detector
	$(GO) test -short -timeout 2m ./...

.PHONY: golden
golden: ## write the golden files anew; look at the difference before you commit it
	UPDATE_GOLDEN=1 $(GO) test ./... || true
	git diff --stat

.PHONY: cover
cover: setup ## the share of statements that tests reach, by package
	$(GO) test -short -coverpkg=./... -coverprofile=cover.out ./... >/dev/null
	$(GO) tool cover -func=cover.out | tail -n 1

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (30s)
	@for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep ^Fuzz || true); do \
	    echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg; \
	  done; \
	done

.PHONY: bench
bench: setup ## measure the ratios of docs/benchmarks.md and print them beside their targets
	cd bench && $(GO) run ./cmd/ratios

.PHONY: bench-once
bench-once: setup ## run every benchmark once, to see that it still runs
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...
	cd bench && $(GO) test -bench . -benchtime 1x ./...

# ---- quality

$(LINT) $(DEADCODE):
	mkdir -p $(TOOLS_DIR)
	cd tools && GOBIN=$(TOOLS_DIR) CGO_ENABLED=0 $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint golang.org/x/tools/cmd/deadcode

.PHONY: fmt
fmt: $(LINT) ## format the code
	$(LINT) fmt

.PHONY: lint
lint: $(LINT) ## find what is wrong, misplaced, too big or hard to read
	$(LINT) fmt --diff
	$(LINT) run ./...
	cd bench && $(LINT) run --config ../.golangci.yml ./...

.PHONY: deadcode
deadcode: $(DEADCODE) ## list functions that nothing reaches
	$(DEADCODE) -test ./...

.PHONY: tidy-check
tidy-check: ## see that go.mod and go.sum are what the code needs
	$(GO) mod tidy -diff
	cd bench && $(GO) mod tidy -diff

.PHONY: docs
docs: ## write the generated documents anew
	UPDATE_GOLDEN=1 $(GO) test -run '^TestDocs' . ./cmd/mockbase

.PHONY: docs-check
docs-check: ## see that the generated documents are up to date
	$(GO) test -run '^TestDocs' . ./cmd/mockbase

.PHONY: check
check: lint ## format, vet, lint and the fast tests; for before each commit
	$(GO) vet ./...
	$(GO) test -short -timeout 2m ./...

.PHONY: ci
ci: ## what a pipeline runs
	.ci/run
