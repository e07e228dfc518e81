# Developer tasks. `make` without a target lists them.
GO ?= go
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOLANGCI = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
# The race detector needs a C compiler.
RACE := $(shell { command -v gcc || command -v clang; } >/dev/null 2>&1 && echo -race)
# Tests with rapid begin with this seed, so that none fails by chance. 0 takes another
# one for each run.
export RAPID_SEED ?= 1

.DEFAULT_GOAL := help
.PHONY: help build check lint test redis browser race chaos conformance conformance-all docs drawings demo screenshot reference golden fuzz release deploy-lint packages sizes ci clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/nod and bin/nod-hook
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/nod ./cmd/nod-hook

check: ## check format, vet, staticcheck, tidy, wording, layers and documents
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not formatted: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) mod tidy -diff
	cd deploy/bench && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./... && $(GO) mod tidy -diff
	$(GO) run ./deploy/ci/prose -max 0 .
	$(GO) test -run 'TestLayers|TestNotLinked|TestNoTemplates|TestDependencies|TestRenderingIsPure|TestDocuments|TestReadersAreNamed|TestAnchors|TestDrawings|TestSeedsAreProven|TestExampleConfig|TestLicence|TestReference|TestClients' ./cmd/nod ./config ./bridge/api ./deploy

lint: ## run the linters of .golangci.yml
	$(GO) run $(GOLANGCI) run ./...
	cd deploy/bench && $(GO) run $(GOLANGCI) run --config ../../.golangci.yml ./...

redis: ## find redis-server, or install it with the system's package manager
	@sh deploy/ci/needs.sh redis

browser: # find Chromium, or install it
	@sh deploy/ci/needs.sh browser

test: redis browser ## run what a contributor needs before a commit
	$(GO) test -short -parallel 6 -timeout 15m ./...
	@echo "test: left out: the race detector, chaos, kills at each step, long random runs, other people's programs (make ci)"

race: redis browser ## run every test, with the race detector where anything is concurrent
	@[ -n "$(RACE)" ] || echo "race: no C compiler found; running without the race detector"
	$(GO) test $(RACE) -parallel 3 -timeout 30m $$($(GO) list ./... | grep -v '/render\(/\|$$\)')
	$(GO) test -parallel 3 -timeout 30m ./render/...
	cd deploy/bench && $(GO) test $(RACE) -timeout 30m ./...

chaos: redis ## inject faults for CHAOS (default 60s each) and check every outcome
	NOD_CHAOS=$${CHAOS:-60s} $(GO) test $(RACE) -count=1 -v -timeout 60m -run 'TestFaults|TestFailovers|TestPlatformFaults|TestAway|TestReplaceDaemons' ./bridge/core ./cmd/nod/daemon

conformance: ## check messages and the sandbox with other people's validators and clients (needs node and npm)
	sh deploy/ci/conformance.sh

conformance-all: ## the same with other versions of the agents' programs, and each way to fail
	sh deploy/ci/conformance.sh all

docs: ## build the documentation into dist/docs, with search (needs node and npm)
	sh deploy/ci/docs.sh

drawings: ## draw the SVG files in docs/drawings from their sources (needs node and npm)
	sh deploy/ci/drawings.sh

deploy-lint: ## check chart, compose files, alerts and the systemd unit with their own tools
	sh deploy/ci/lint.sh

demo: ## run the demo
	$(GO) run ./cmd/nod demo

bench: build redis ## benchmark nod and the systems that it is compared with (set ARGS for flags)
	cd deploy/bench && CGO_ENABLED=0 $(GO) build -trimpath -o $(CURDIR)/bin/bench .
	bin/bench -peers $(ARGS)

screenshot: browser ## retake the screenshots for the documentation
	NOD_SCREENSHOTS=$(CURDIR)/docs/images $(GO) test -count=1 -run 'TestPage|TestConsole$$|TestConsoleInbox|TestPictures' ./cmd/nod/daemon

reference: redis ## generate docs/cli.md, errors.md, api.md, configuration.md and types of clients
	$(GO) test -count=1 -run "TestReference|TestMistakes|TestAgentTable" ./cmd/nod ./cmd/nod/setup ./config ./bridge/api ./deploy -update

golden: ## update the golden files; review the diff before you commit it
	$(GO) test ./render/slackmsg ./render/discordmsg ./render/telegrammsg \
		./bridge/dialect/askuserquestion ./bridge/dialect/askwidget ./bridge/dialect/toolinteraction ./bridge/dialect/widgetblock ./bridge/dialect/claudecode ./bridge/dialect/codex ./bridge/dialect/acp \
		./bridge/dialect/langchain ./bridge/dialect/openaiagents ./bridge/dialect/aisdk -update

sizes: ## count code, tests, commands, settings and pages (REV counts a commit)
	@sh deploy/ci/sizes.sh $(REV)

fuzz: redis ## run each fuzz target, random test and shell comparison for FUZZTIME (default 30s)
	sh deploy/ci/fuzz.sh $${FUZZTIME:-30s}

packages: ## build archive, packages and formula, and check them with their own tools
	sh deploy/ci/packages.sh

release: ## build the archives and packages of VERSION for linux, darwin and windows into dist
	sh deploy/ci/release.sh $${VERSION:?set VERSION, such as 0.1.0}

ci: test check race conformance deploy-lint packages docs ## run everything that CI runs

clean: ## remove build output
	rm -rf bin dist
