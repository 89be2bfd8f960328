# Everything starts here. Each target installs what it needs and can be run again.
SHELL := /bin/sh
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
.DEFAULT_GOAL := help

STAMP := node_modules/.parley-installed
BUNDLE := dist/parley.mjs
SOURCES := $(shell find agent-tests api calls cli crds events knowledge kube local-stack operator platform store voice webhooks workflows -name '*.ts' -o -name '*.sql' 2>/dev/null)

$(STAMP): package.json package-lock.json .npmrc
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(BUNDLE): $(STAMP) $(SOURCES) scripts/build.ts
	node scripts/build.ts

.PHONY: up test check bench image artifacts site e2e upgrade-test clean help

up: $(BUNDLE) ## Install what is missing and run the whole platform on this machine (ARGS="--detach" and others go to `parley dev`)
	@bin/parley dev $(ARGS)

test: $(STAMP) ## What to run before each push: static checks, unit and integration tests, one call (ARGS=--all for the longer suites, too, --changed for what a change can break)
	node scripts/test.ts $(ARGS)

check: $(STAMP) ## Just the static checks: format, lint, types, generated files, unused code
	node scripts/test.ts --checks-only

bench: $(BUNDLE) ## The benchmarks behind the figures in docs/benchmarks.md (ARGS="control-plane --quick")
	node test/bench/main.ts $(ARGS)

image: $(STAMP) ## The OCI image, built without a container engine, into build/image (ARGS="--out … --locked")
	node scripts/image/main.ts $(ARGS)

artifacts: $(STAMP) ## What is published of a version, into build/artifacts: image, archive, npm package, chart, plugin, clients, checksums (ARGS="--base-url https://…")
	node scripts/artifacts/main.ts $(ARGS)

site: $(STAMP) ## The documentation as a static site with a search, into dist/site (ARGS=dev serves the pages as you write them, ARGS=preview the site)
	vitepress $(or $(ARGS),build) docs

e2e: $(STAMP) ## Parley on a real node on this machine: needs Linux and root (ARGS="--keep" leaves it up)
	node scripts/image/main.ts
	node test/node/main.ts $(ARGS)

upgrade-test: $(STAMP) ## From another version (the latest tag, or PARLEY_UPGRADE_FROM=<ref>) to this checkout, with live data
	node test/upgrade/main.ts

clean: ## Remove what was built and installed here (data of the local stack too; the binary cache stays)
	@if [ -f $(BUNDLE) ]; then bin/parley dev stop; fi
	rm -rf dist build node_modules coverage .parley

help: ## This list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
