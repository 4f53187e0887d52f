# SPDX-License-Identifier: Apache-2.0
# isaprobe: one Makefile. Start with `make demo`; `make help` lists the targets.
#
# Objects are kept apart by compiler and MODE (build/gcc-release, build/clang-asan ...), so that configurations
# can be built in turn, or at the same time, without rebuilding each other.

VERSION := 0.1.0
# Changes when isaprobe.h does in a way that programs built before do not survive.
SOVERSION := 0
MODE    ?= release
PREFIX  ?= /usr/local
DESTDIR ?=
NASM    ?= nasm
# `make` itself defines CC as cc: only a CC that somebody chose counts.
ifeq ($(origin CC),default)
CC := gcc
endif
BUILD ?= build/$(notdir $(firstword $(CC)))-$(MODE)

# Later modules may include earlier ones, never the other way round (common/ serves all); tests/layers.sh
# checks it.
MODULES := common isa generator harness probe results oncore power scc_model api

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2
ALL_CPPFLAGS := -I. -D_GNU_SOURCE -DISAPROBE_VERSION='"$(VERSION)"' -MMD -MP $(CPPFLAGS)
# Hidden: the shared library offers what isaprobe.h declares, and nothing else.
# fmod stays a call: gcc 16 makes x87 of it, between what resets a kernel's registers and the kernel (docs/method.md).
ALL_CFLAGS := -std=c11 $(WARNINGS) -fstack-protector-strong -fPIC -fvisibility=hidden -fno-builtin-fmod
LIBS     := -lZydis -lZycore -lcpuid -lpapi -lseccomp -lsqlite3 -lm

ifeq ($(MODE),release)
ALL_CFLAGS += -O2 -g
else ifeq ($(MODE),debug)
ALL_CFLAGS += -O0 -g3
else ifeq ($(MODE),asan)
ALL_CFLAGS += -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
ALL_LDFLAGS += -fsanitize=address,undefined
else ifeq ($(MODE),fuzz) # libFuzzer: clang only
ALL_CFLAGS += -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
ALL_LDFLAGS += -fsanitize=address,undefined
else ifeq ($(MODE),cov)
ALL_CFLAGS += -O0 -g --coverage
ALL_LDFLAGS += --coverage
else
$(error MODE is release, debug, asan, fuzz or cov, not '$(MODE)')
endif
ALL_CFLAGS += $(CFLAGS)

LIB_SOURCES   := $(foreach m,$(MODULES),$(sort $(wildcard $(m)/*.c)))
CLI_SOURCES   := $(sort $(wildcard cli/*.c))
TESTS         := $(sort $(wildcard tests/test_*.c))
# Programs that measure; bench_*.c are the parts of bench.
BENCHES       := $(sort $(filter-out tests/bench/bench_%.c,$(wildcard tests/bench/*.c)))
BENCH_PARTS   := $(sort $(wildcard tests/bench/bench_*.c))
FUZZERS       := $(sort $(wildcard tests/fuzz/fuzz_*.c))
ISA_TABLES    := $(sort $(wildcard isa/x86-64/*.isa))
SHELL_SCRIPTS := .ci/run .ci/deps $(sort $(wildcard tests/*.sh tests/*/*.sh))

LIB_OBJECTS := $(LIB_SOURCES:%.c=$(BUILD)/%.o) $(if $(ISA_TABLES),$(BUILD)/isa/builtin_data.o)
CLI_OBJECTS := $(CLI_SOURCES:%.c=$(BUILD)/%.o)
TEST_BINS   := $(TESTS:tests/%.c=$(BUILD)/tests/%)
BENCH_BINS  := $(BENCHES:tests/%.c=$(BUILD)/tests/%)
PART_OBJECTS := $(BENCH_PARTS:%.c=$(BUILD)/%.o)
FUZZ_BINS   := $(FUZZERS:tests/%.c=$(BUILD)/tests/%)

.DELETE_ON_ERROR:
.SUFFIXES:

# A shared library of instrumented objects would need the sanitizers' runtime in each program that loads it.
SHARED := $(if $(filter release debug,$(MODE)),$(BUILD)/libisaprobe.so.$(VERSION))

.PHONY: all
all: $(BUILD)/libisaprobe.a $(SHARED) $(if $(CLI_SOURCES),$(BUILD)/isaprobe) ## build the library and the program

.PHONY: help
help: ## list the targets
	@printf 'make TARGET [CC=gcc|clang] [MODE=release|debug|asan|fuzz|cov] [BUILD=DIR] [PREFIX=DIR] [DESTDIR=DIR]\n\n'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile

$(BUILD)/libisaprobe.a: $(LIB_OBJECTS)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/libisaprobe.so.$(VERSION): $(LIB_OBJECTS)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(LDFLAGS) -shared -Wl,-soname,libisaprobe.so.$(SOVERSION) -Wl,-z,defs -o $@ $^ $(LIBS)

$(BUILD)/isaprobe: $(CLI_OBJECTS) $(BUILD)/libisaprobe.a
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# Its flags are part of a configuration.
$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

# The instruction tables are part of the library: one object that holds their text.
$(BUILD)/isa/builtin_data.asm: $(ISA_TABLES) Makefile
	@mkdir -p $(@D)
	@{ printf 'section .rodata\nglobal isa_builtin_text:data hidden\nglobal isa_builtin_text_end:data hidden\nisa_builtin_text:\n'; \
	   for t in $(ISA_TABLES); do printf 'db "# file %s", 10\nincbin "%s"\ndb 10\n' $$t $$t; done; \
	   printf 'isa_builtin_text_end:\nsection .note.GNU-stack noalloc noexec nowrite progbits\n'; } > $@
$(BUILD)/isa/builtin_data.o: $(BUILD)/isa/builtin_data.asm $(ISA_TABLES)
	$(NASM) -w+error -f elf64 -o $@ $<

# The tables are themselves made, by a walk through the opcode space with Zydis's decoder.
WALK_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard isa/tools/*.c)))
$(BUILD)/isa/walk: $(WALK_OBJECTS) $(BUILD)/libisaprobe.a
	$(CC) $(ALL_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
.PHONY: isa
isa: $(BUILD)/isa/walk ## make the instruction tables (isa/x86-64) again from Zydis's decoder
	$< isa/x86-64
-include $(WALK_OBJECTS:.o=.d)

$(BUILD)/tests/fuzz/fuzz_hex: $(BUILD)/cli/block.o
$(BUILD)/tests/fuzz/%: tests/fuzz/%.c $(BUILD)/libisaprobe.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(LDFLAGS) -fsanitize=fuzzer -MF $@.d -o $@ $< $(filter %.o,$^) $(BUILD)/libisaprobe.a $(LIBS)

$(BUILD)/tests/bench/bench: $(PART_OBJECTS) $(patsubst %,$(BUILD)/cli/%.o,validate_samples replace block)
$(BUILD)/tests/bench/%: tests/bench/%.c $(BUILD)/libisaprobe.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(LDFLAGS) -MF $@.d -o $@ $< $(filter %.o,$^) $(BUILD)/libisaprobe.a $(LIBS)

# What of the command line is tested by itself.
$(BUILD)/tests/test_cli_output: $(patsubst %,$(BUILD)/cli/%.o,output output_csv output_json output_text report signals)
$(BUILD)/tests/test_cli_block: $(patsubst %,$(BUILD)/cli/%.o,block)
$(BUILD)/tests/test_cli_replace: $(patsubst %,$(BUILD)/cli/%.o,replace)
$(BUILD)/tests/test_cli_validate: $(patsubst %,$(BUILD)/cli/%.o,validate_agreement)
$(BUILD)/tests/test_cli_scan_readings: $(patsubst %,$(BUILD)/cli/%.o,scan_readings)
$(BUILD)/tests/%: tests/%.c $(BUILD)/libisaprobe.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(LDFLAGS) -MF $@.d -o $@ $< $(filter %.o,$^) $(BUILD)/libisaprobe.a -lcmocka -ljansson $(LIBS)

# --- running it -------------------------------------------------------------------------------------------

.PHONY: deps demo
deps: ## install the Debian packages that are missing (nothing to do: no network, no root)
	@.ci/deps

demo: deps ## build, then look at this machine and measure a few forms
	@$(MAKE) --no-print-directory -s -j2 all
	@sh tests/demo.sh $(BUILD)/isaprobe

# --- checking it ------------------------------------------------------------------------------------------

.PHONY: check tests benches unit unit-valgrind cli-tests client-tests doc-tests format tidy layers shell fuzz fuzzers install-test
check: deps ## every gate: both compilers, sanitizers, valgrind, cli, docs, format, tidy, fuzzers
	@bash tests/check.sh

tests: $(TEST_BINS)
benches: $(BENCH_BINS) $(BUILD)/accuracy
unit: $(TEST_BINS) ## run the unit tests of this CC and MODE
	@bash tests/unit.sh $(TEST_BINS)
unit-valgrind: $(TEST_BINS) ## run under valgrind the unit tests that run no generated code
	@bash tests/unit.sh --valgrind tests/valgrind.skip $(TEST_BINS)
cli-tests: $(BUILD)/isaprobe ## run the command-line tests
	@bash tests/cli/run.sh $(abspath $(BUILD)/isaprobe)
client-tests: $(BUILD)/isaprobe ## open every export with a program that it is made for
	@bash tests/clients.sh $(abspath $(BUILD)/isaprobe)
doc-tests: $(BUILD)/isaprobe ## run the examples of README and docs/, look for the sections that are named
	@bash tests/doc_examples.sh $(abspath $(BUILD)/isaprobe) README.md CONTRIBUTING.md $(wildcard docs/*.md)
	@bash tests/doc_links.sh README.md CONTRIBUTING.md CHANGELOG.md tests/README.md $(wildcard docs/*.md) \
	  $$(git ls-files --cached --others --exclude-standard '*.[ch]')
layers: $(BUILD)/libisaprobe.a ## who includes whom; the library neither prints nor exits nor keeps state
	@bash tests/layers.sh $(BUILD)/libisaprobe.a $(MODULES)
format: ## does the source look as clang-format would print it?
	@clang-format --dry-run -Werror $$(git ls-files --cached --others --exclude-standard '*.[ch]')
shell: ## shellcheck of the scripts
	@if command -v shellcheck >/dev/null; then shellcheck -S warning -s bash -x $(SHELL_SCRIPTS); \
	 else echo 'shell: skipped, shellcheck is not installed'; fi
install-test: $(BUILD)/isaprobe ## install into an empty directory, build against it, uninstall
	@bash tests/install.sh $(BUILD)

# One stamp for each file: only what changed is looked at again.
TIDY_SOURCES := $(LIB_SOURCES) $(CLI_SOURCES) $(TESTS) $(BENCHES) $(BENCH_PARTS) $(wildcard tests/accuracy/*.c) $(FUZZERS)
TIDY_STAMPS  := $(TIDY_SOURCES:%=$(BUILD)/tidy/%.ok)
# States that the analyzer visits in each function. Of its own 225000 it makes four times the time and, in this project, no
# further finding: tests/README.md.
TIDY_NODES   ?= 50000
tidy: $(TIDY_STAMPS) ## clang-tidy of everything
# The analyzer does not know that cmocka's assertions do not return: tests go without it.
$(BUILD)/tidy/tests/%: TIDY_CHECKS := --checks=-clang-analyzer-*,-bugprone-macro-parentheses
$(BUILD)/tidy/%.ok: % .clang-tidy $(foreach m,$(MODULES) cli,$(wildcard $(m)/*.h))
	@mkdir -p $(@D)
	@clang-tidy --quiet $(TIDY_CHECKS) $< -- -std=c11 -I. -D_GNU_SOURCE -DISAPROBE_VERSION='"$(VERSION)"' \
	  -Xclang -analyzer-config -Xclang max-nodes=$(TIDY_NODES) > $@.log 2>&1 || { cat $@.log; exit 1; }
	@touch $@

fuzzers: $(FUZZ_BINS)
# Seconds for all the fuzzers together.
FUZZ_SECONDS ?= 60
FUZZ_BUILD   ?= build/clang-fuzz
fuzz: ## run the fuzzers, FUZZ_SECONDS=60 in all
	@$(MAKE) --no-print-directory CC=clang MODE=fuzz BUILD=$(FUZZ_BUILD) fuzzers
	@bash tests/fuzz/run.sh $(FUZZ_SECONDS) $(FUZZERS:tests/%.c=$(FUZZ_BUILD)/tests/%)

.PHONY: cov
cov: ## line coverage of the library by the unit tests
	@$(MAKE) --no-print-directory CC=gcc MODE=cov BUILD=build/gcc-cov unit
	@bash tests/coverage.sh build/gcc-cov $(LIB_SOURCES)

# --- measuring with it ------------------------------------------------------------------------------------

.PHONY: bench thesis
bench: $(BUILD)/tests/bench/bench $(BUILD)/isaprobe ## how fast, how repeatable, how robust
	@$< --isaprobe $(BUILD)/isaprobe $(BENCH_ARGS)
# Needs a store of this CPU with ports (scan --parts latency,throughput,ports); BENCH_STORE names another than the default.
.PHONY: bench-loops
bench-loops: $(BUILD)/isaprobe ## the thesis's loops: predicted and measured
	@bash tests/bench/loops.sh $(BUILD)/isaprobe $(if $(BENCH_STORE),--store $(BENCH_STORE))
# SCAN_ARGS chooses what: "--parts throughput,slots,ports", "-e AVX2".
.PHONY: bench-scans
bench-scans: $(BUILD)/isaprobe ## two whole scans: their time, and where they differ
	@bash tests/bench/scans.sh $(BUILD)/isaprobe $(SCAN_ARGS)
# Where the thesis's tables are kept; - for standard output only.
THESIS_OUT ?= docs/thesis_results.md
thesis: $(BUILD)/tests/bench/thesis ## Putigny's tables 2.1, 2.2, 2.3 and the loop buffer, on this CPU
	@$< $(THESIS_OUT)

# --- proving ports and latencies on CPUs that are not here --------------------------------------------------

.PHONY: proof
# The tables of ports lie outside the project: without them the program says so and stops.
PROOF_ARGS ?= --noise 0,0.003
WITHOUT_AVX := --set 'fault "v*" illegal' --set 'fault "k*" illegal'
proof: $(BUILD)/tests/bench/proof $(BUILD)/tests/bench/proof_latency ## infer ports and latencies of simulated CPUs, and compare with what they have
	@$< $(PROOF_ARGS) tests/data/skylake_x.sim tests/data/zen_plus.sim tests/data/golden_cove.sim
	@$< $(PROOF_ARGS) --set "issue-width 6" --set "retire-width 6" tests/data/skylake_x.sim
	@$< $(PROOF_ARGS) $(WITHOUT_AVX) --set "issue-width 6" --set "retire-width 6" tests/data/skylake_x.sim
	@$< $(PROOF_ARGS) $(WITHOUT_AVX) tests/data/golden_cove.sim
	@$<_latency --noise 0,0.003 tests/data/everything.sim

# --- comparing it with a published table --------------------------------------------------------------------

.PHONY: accuracy
ACCURACY_SOURCES := $(wildcard tests/accuracy/*.c)
ACCURACY_OBJECTS := $(ACCURACY_SOURCES:%.c=$(BUILD)/%.o)
# The table lies outside the project: without it the program says so and stops.
ACCURACY_REFERENCE ?= ../shared/reference/golden_cove_sample.csv
ACCURACY_WIDE ?= ../shared/reference/sapphire_rapids_512_sample.csv
$(BUILD)/accuracy: $(ACCURACY_OBJECTS) $(BUILD)/libisaprobe.a
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
accuracy: $(BUILD)/accuracy ## compare latency and throughput on this CPU with a published table
	@$< --differences tests/accuracy/true_differences.csv $(if $(wildcard $(ACCURACY_WIDE)),--wide $(ACCURACY_WIDE)) \
	  $(ACCURACY_ARGS) $(ACCURACY_REFERENCE)
-include $(ACCURACY_OBJECTS:.o=.d)

# --- installing it ----------------------------------------------------------------------------------------

HEADERS  := $(foreach m,$(MODULES),$(sort $(wildcard $(m)/*.h)))
MAN_PAGE := $(wildcard docs/isaprobe.1.scd)
INTO     := $(DESTDIR)$(PREFIX)
SHARE    := $(INTO)/share
COMPLETE_BASH := $(SHARE)/bash-completion/completions/isaprobe
COMPLETE_ZSH  := $(SHARE)/zsh/site-functions/_isaprobe
COMPLETE_FISH := $(SHARE)/fish/vendor_completions.d/isaprobe.fish
LDCONFIG ?= PATH="$$PATH:/usr/sbin:/sbin" ldconfig
# The loader goes by a cache, which whoever unpacks DESTDIR renews.
RELOAD   := $(if $(DESTDIR),,$(if $(SHARED),$(LDCONFIG) 2>/dev/null))
LOADED   := $(LDCONFIG) -p 2>/dev/null | grep -qF "$(PREFIX)/lib/libisaprobe.so.$(SOVERSION)"

$(BUILD)/isaprobe.1: docs/isaprobe.1.scd
	@mkdir -p $(@D)
	@scdoc < $< > $@

.PHONY: install uninstall clean
install: all $(if $(MAN_PAGE),$(BUILD)/isaprobe.1) ## into PREFIX (below DESTDIR): program, library, headers, pkg-config, man page, completions
	@install -D -m 755 $(BUILD)/isaprobe "$(INTO)/bin/isaprobe"
	@install -D -m 644 $(BUILD)/libisaprobe.a "$(INTO)/lib/libisaprobe.a"
	@$(if $(SHARED),install -m 755 $(SHARED) "$(INTO)/lib/")
	@$(if $(SHARED),ln -sf libisaprobe.so.$(VERSION) "$(INTO)/lib/libisaprobe.so.$(SOVERSION)")
	@$(if $(SHARED),ln -sf libisaprobe.so.$(SOVERSION) "$(INTO)/lib/libisaprobe.so")
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' isaprobe.pc.in > $(BUILD)/isaprobe.pc
	@install -D -m 644 $(BUILD)/isaprobe.pc "$(INTO)/lib/pkgconfig/isaprobe.pc"
	@for h in $(HEADERS); do install -D -m 644 $$h "$(INTO)/include/isaprobe/$$h" || exit 1; done
	@install -D -m 644 api/isaprobe.h "$(INTO)/include/isaprobe/isaprobe.h"
	@$(if $(MAN_PAGE),install -D -m 644 $(BUILD)/isaprobe.1 "$(SHARE)/man/man1/isaprobe.1")
	@for s in bash zsh fish; do $(BUILD)/isaprobe --completion $$s > $(BUILD)/completion.$$s || exit 1; done
	@install -D -m 644 $(BUILD)/completion.bash "$(COMPLETE_BASH)"
	@install -D -m 644 $(BUILD)/completion.zsh "$(COMPLETE_ZSH)"
	@install -D -m 644 $(BUILD)/completion.fish "$(COMPLETE_FISH)"
	@echo 'installed into $(INTO)'
	@$(if $(RELOAD),$(RELOAD); $(LOADED) || \
	  echo 'programs do not find $(PREFIX)/lib/libisaprobe.so.$(SOVERSION) yet: see docs/library.md')

uninstall: ## remove what install put there
	@rm -f "$(INTO)/bin/isaprobe" "$(INTO)/lib/libisaprobe.a" "$(INTO)/lib"/libisaprobe.so* \
	  "$(INTO)/lib/pkgconfig/isaprobe.pc" "$(SHARE)/man/man1/isaprobe.1" \
	  "$(COMPLETE_BASH)" "$(COMPLETE_ZSH)" "$(COMPLETE_FISH)"
	@rm -rf "$(INTO)/include/isaprobe"
	@$(if $(RELOAD),$(RELOAD) || true)

clean: ## remove everything that was built
	rm -rf build

-include $(LIB_OBJECTS:.o=.d) $(CLI_OBJECTS:.o=.d) $(TEST_BINS:=.d) $(BENCH_BINS:=.d) $(PART_OBJECTS:.o=.d) $(FUZZ_BINS:=.d)
