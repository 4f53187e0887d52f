# SPDX-License-Identifier: Apache-2.0
# isaprobe: one Makefile. Start with `make demo`; `make help` lists the targets.

VERSION := 0.1.0
MODE    ?= release
BUILD   ?= build/$(MODE)
PREFIX  ?= /usr/local
CC      ?= gcc
NASM    ?= nasm

# Later modules may include earlier ones, never the other way round (common/ serves all).
MODULES := common isa generator harness probe results oncore power scc_model

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2
CPPFLAGS += -I. -D_GNU_SOURCE -DISAPROBE_VERSION='"$(VERSION)"' -MMD -MP
ALL_CFLAGS := -std=c11 $(WARNINGS) -fstack-protector-strong $(CFLAGS)
LIBS     := -lZydis -lZycore -lcpuid -lpapi -lseccomp -lm

ifeq ($(MODE),release)
ALL_CFLAGS += -O2 -g
else ifeq ($(MODE),debug)
ALL_CFLAGS += -O0 -g3
else ifeq ($(MODE),asan)
ALL_CFLAGS += -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
ALL_LDFLAGS += -fsanitize=address,undefined
else
$(error MODE is release, debug or asan, not '$(MODE)')
endif

LIB_SOURCES := $(foreach m,$(MODULES),$(wildcard $(m)/*.c))
CLI_SOURCES := $(wildcard cli/*.c)
TESTS       := $(wildcard tests/test_*.c)
ISA_TABLES  := $(sort $(wildcard isa/x86-64/*.isa))

LIB_OBJECTS := $(LIB_SOURCES:%.c=$(BUILD)/%.o) $(if $(ISA_TABLES),$(BUILD)/isa/builtin_data.o)
CLI_OBJECTS := $(CLI_SOURCES:%.c=$(BUILD)/%.o)
TEST_BINS   := $(TESTS:tests/%.c=$(BUILD)/tests/%)

.PHONY: all help
all: $(BUILD)/libisaprobe.a $(if $(CLI_SOURCES),$(BUILD)/isaprobe) ## build the library and the program

$(BUILD)/libisaprobe.a: $(LIB_OBJECTS)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/isaprobe: $(CLI_OBJECTS) $(BUILD)/libisaprobe.a
	$(CC) $(ALL_LDFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

# The instruction tables are part of the library: one object that holds their text.
$(BUILD)/isa/builtin_data.asm: $(ISA_TABLES) Makefile
	@mkdir -p $(@D)
	@{ printf 'section .rodata\nglobal isa_builtin_text, isa_builtin_text_end\nisa_builtin_text:\n'; \
	   for t in $(ISA_TABLES); do printf 'db "# file %s", 10\nincbin "%s"\ndb 10\n' $$t $$t; done; \
	   printf 'isa_builtin_text_end:\nsection .note.GNU-stack noalloc noexec nowrite progbits\n'; } > $@
$(BUILD)/isa/builtin_data.o: $(BUILD)/isa/builtin_data.asm $(ISA_TABLES)
	$(NASM) -w+error -f elf64 -o $@ $<

$(BUILD)/tests/%: tests/%.c $(BUILD)/libisaprobe.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(LDFLAGS) -MF $@.d -o $@ $< $(BUILD)/libisaprobe.a -lcmocka $(LIBS)

.PHONY: tests unit
tests: $(TEST_BINS)
unit: $(TEST_BINS) ## run the unit tests
	@set -e; for t in $(TEST_BINS); do $$t; done

clean: ## remove everything that was built
	rm -rf build

-include $(LIB_OBJECTS:.o=.d) $(CLI_OBJECTS:.o=.d) $(TEST_BINS:=.d)
