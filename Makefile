# Targets for every development task. `make help` lists them.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# go build derives the version from the repository.
BUILD    := CGO_ENABLED=0 go build -trimpath -buildvcs=auto -ldflags '-s -w'
TOOL     := go tool -modfile=.ci/tools/go.mod
BUF      ?= $(TOOL) buf
GOLANGCI ?= $(TOOL) golangci-lint
FUZZTIME ?= 20s
# The comparison with peers is a separate module. -mod=mod updates its go.mod after changes to the main module.
PEERS     = go -C deploy/bench/peers run -mod=mod . -bin $(CURDIR)/bin -json $(CURDIR)/bin/peers.json
# Demos, benchmarks and fault runs are in a separate module. $(call DEPLOY,demo,jobs) builds deploy/demo and runs it in
# this directory, with jobs as its first argument.
DEPLOY    = go -C deploy build -o $(CURDIR)/bin/deploy/ ./$(1) && bin/deploy/$(1) $(2) -bin bin
# Most tests wait for timers or for the disk, so twice as many packages are tested in parallel as there are CPUs.
TEST      = go test -json -count=1 -p $$(( 2 * $$(getconf _NPROCESSORS_ONLN) ))
SUMMARY   = go run ./.ci/testsum -skips .ci/skips.txt
# The product, plus the programs under .ci, which ./... does not match.
PACKAGES := ./... ./.ci/testsum ./.ci/mutants
# The packages whose micro-benchmarks are worth comparing between versions.
BENCH_PKGS ?= ./semaphore ./fsm ./gatekeeper/internal/batcher ./gatekeeper/internal/lessor ./gatekeeper/internal/queue ./gatekeeper/internal/api \
            ./gatekeeper/internal/consensus/... ./gatekeeper/internal/watch ./client
GO_FILES  = $(shell git ls-files -co --exclude-standard '*.go')

.PHONY: help
help: ## List every target, one per line
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the static binaries bin/gatekeeperd and bin/gkctl
	@mkdir -p bin
	$(BUILD) -o bin/ ./cmd/gatekeeperd ./cmd/gkctl

.PHONY: build-faulty
build-faulty: ## Build bin/faulty/gatekeeperd, whose disk fails on command; only for fault tests, never for release
	@mkdir -p bin/faulty
	CGO_ENABLED=0 go build -trimpath -tags faulty -o bin/faulty/ ./cmd/gatekeeperd

.PHONY: run
run: build ## Build and start one server, loaded with the Kubernetes project's job schedule
	@$(call DEPLOY,run) $(ARGS)

.PHONY: demo
demo: build ## Run three servers and seven groups of hosts, and kill the leader and a host; prints a table at the end (more scenarios below)
	@$(call DEPLOY,demo) $(ARGS)

.PHONY: demo-jobs
demo-jobs: build ## Run three servers, three applications with fifty gocron jobs, and four faults; prints a report at the end
	@$(call DEPLOY,demo,jobs) $(ARGS)

.PHONY: demo-move
demo-move: build ## Run three servers with 510 tasks in one zone, and move them to another zone and back with gkctl; prints a report at the end
	@$(call DEPLOY,demo,move) $(ARGS)

.PHONY: demo-work
demo-work: demo-jgroups demo-oddjob demo-words ## Run the three shared-work scenarios, one after another (2 minutes)

.PHONY: demo-jgroups
demo-jgroups: build ## Run three servers and three workers that share tasks, one of which is killed partway through a long task; prints a report at the end
	@$(call DEPLOY,demo,jgroups) $(ARGS)

.PHONY: demo-oddjob
demo-oddjob: build ## Run three servers and three workers with the same timer, one always idle and one killed; prints a report at the end
	@$(call DEPLOY,demo,oddjob) $(ARGS)

.PHONY: demo-words
demo-words: build ## Run three servers and 10,000 tasks that count words; workers join, leave and die, and the leader is killed; prints a report at the end
	@$(call DEPLOY,demo,words) $(ARGS)

.PHONY: faults
faults: build build-faulty ## Kill, suspend, isolate and damage real servers under load, and check everything the clients observed; ARGS='-runs N -seed S -kind K'
	@$(call DEPLOY,proof) -tally bin/faults.tsv $(ARGS)

.PHONY: mutants
mutants: ## Apply known bugs one at a time, and check that the tests catch each one (ARGS='-run NAME'; 20 minutes)
	@go run ./.ci/mutants $(ARGS)

.PHONY: test
test: ## Run the product's tests; a skipped test not listed in .ci/skips.txt fails the run
	@$(TEST) -timeout 12m $(PACKAGES) | $(SUMMARY)

.PHONY: test-all
test-all: test ## Run every test, as CI does, including those in deploy, which run demos, faults and benchmarks on real servers
	@go -C deploy test -json -count=1 -timeout 12m ./... | $(SUMMARY)

.PHONY: race
race: ## Run every test under the race detector
	@go test -json -count=1 -race -timeout 20m $(PACKAGES) | $(SUMMARY)
	@go -C deploy test -json -count=1 -race -timeout 20m ./... | $(SUMMARY)

.PHONY: sim
sim: ## Simulate whole clusters over 1,000 seeds (ARGS='-seeds N -from S'); fails if a guarantee is violated or a rare path is never taken
	@mkdir -p bin
	@go test -count=1 -timeout 24h -v ./gatekeeper/internal/sim -run TestSeeds -args -seeds 1000 -all-paths $(ARGS) | grep -v '^ *\(===\|--- PASS\)' | tee bin/sim.txt

.PHONY: soak
soak: build ## Keep three servers saturated for an hour (ARGS='-for 10m') and look for resource growth; prints a table and plots bin/soak.svg
	@$(call DEPLOY,soak) $(ARGS)

.PHONY: scale
scale: build ## Fill real servers with 100,000 definitions, 1,000,000 permits and 10,000 clients (ARGS='-size 0.1'); prints the results alongside their targets
	@$(call DEPLOY,scale) $(ARGS)

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (20s) each
	@.ci/fuzz $(FUZZTIME)

.PHONY: bench
bench: build ## Measure the servers against this machine's limits, the client library and, without ARGS, the peers; prints tables and writes JSON
	@$(call DEPLOY,bench) $(ARGS)
	@$(if $(ARGS),,$(PEERS) -parts work,tasks)
	@$(if $(ARGS),,$(MAKE) --no-print-directory bench-dashboard)

.PHONY: bench-dashboard
bench-dashboard: ## Measure the dashboard's speed in Chromium, and what open pages cost the server; writes bin/dashboard.json (3 minutes)
	@mkdir -p bin
	@go -C deploy test -count=1 -timeout 9m ./browser -run Speed -v -args -speed $(CURDIR)/bin/dashboard.json | grep -v '^ *\(===\|---\)'

.PHONY: bench-peers
bench-peers: build ## Measure the same work on Gatekeeper, etcd, Redis and PostgreSQL alternately; prints ratios and writes JSON (6 minutes)
	@$(PEERS) -parts work $(ARGS)

.PHONY: bench-tasks
bench-tasks: build ## Measure tasks from submission to recorded result, compared with River on PostgreSQL and asynq on Redis (4 minutes)
	@$(PEERS) -parts tasks -callers 1,16 -log-stores bolt,wal -json $(CURDIR)/bin/tasks.json $(ARGS)

.PHONY: bench-work
bench-work: build ## Measure how queued, submitted and stored tasks affect other work, on three servers (4 minutes)
	@go -C deploy build -o $(CURDIR)/bin/deploy/bench-work ./bench/work && bin/deploy/bench-work -bin bin $(ARGS)

.PHONY: bench-sharing
bench-sharing: bench-tasks bench-work ## Run all shared-work benchmarks, one after another (8 minutes)

.PHONY: bench-failover
bench-failover: build ## Alternately kill the leaders of Gatekeeper and etcd, and measure how long until permits are granted again (5 minutes)
	@$(PEERS) -parts failover -json $(CURDIR)/bin/failover.json $(ARGS)

.PHONY: microbench
microbench: ## Run the micro-benchmarks of the packages in BENCH_PKGS ten times each; writes bin/micro.txt (ARGS='-bench Decide')
	@mkdir -p bin
	@go test -run '^$$' -bench . -benchmem -count 10 $(ARGS) $(BENCH_PKGS) | tee bin/micro.txt

.PHONY: benchstat
benchstat: ## Compare two files written by make microbench: OLD=a.txt NEW=b.txt
	@$(TOOL) benchstat $(OLD) $(NEW)

.PHONY: lint
lint: ## Check import rules, clock use, error handling and style with golangci-lint (ARGS=./fsm: only that package)
	$(GOLANGCI) run $(ARGS)
	$(if $(findstring ./,$(ARGS)),,cd deploy && $(subst .ci,../.ci,$(GOLANGCI)) run $(ARGS))

.PHONY: fmt
fmt: ## Format every Go file
	@gofmt -w $(GO_FILES)

.PHONY: generate
generate: ## Generate Go code from proto/, and the sample definitions from the job schedule
	$(BUF) generate
	go generate ./...
	go -C deploy generate ./...

.PHONY: dashboard
dashboard: ## Build the dashboard's bundle from its sources with npm and esbuild; the build is reproducible
	@cd gatekeeper/internal/gateway/dashboard && npm ci --ignore-scripts --no-audit --no-fund --silent && npm run --silent build

.PHONY: screenshots
screenshots: ## Take the screenshots for docs/dashboard.md in Chromium, with real servers, in both themes; check them before committing
	@mkdir -p docs/images
	@go -C deploy test -count=1 ./browser -run Screenshots -args -screenshots $(CURDIR)/docs/images

.PHONY: verify
verify: ## Check generated code, protos, go.mod, the docs' commands, licences and known vulnerabilities (GOVULNDB=file:///DIR to use a mirror)
	@BUF='$(BUF)' .ci/verify

.PHONY: cover
cover: ## Run the tests and report coverage by package and in total
	@go test -count=1 -timeout 12m -coverprofile=coverage.out $(PACKAGES)
	@go tool cover -func=coverage.out | tail -1

.PHONY: clean
clean: ## Remove build and benchmark output, but not data directories
	rm -rf bin coverage.out
