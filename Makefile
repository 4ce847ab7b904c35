# SPDX-License-Identifier: GPL-2.0
#
# make			the modules for the running kernel, and the command; the
#			library for iptables, where libxtables is there
# make KDIR=...		the module for another kernel
# make demo		an overloaded Apache in a VM, without and with synq
# make bench		experiments in a VM (ONLY=overload, FAST=1)
# make check		everything that CI runs
# make deb		Debian's packages, in out/deb
# make docs		the documentation, in out/docs
# make check-deb	the packages in VMs with Debian 12 and 13
# make soak		random owners of sockets for an hour (DURATION=, KERNEL=)
# make help		all targets

KDIR ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr/local
HAVE_XTABLES := $(shell pkg-config --exists xtables && echo y)
YNL_SOURCE ?= $(shell scripts/kernel source 6.12)

.PHONY: all module tools
all: module tools

module:
	@test -e $(KDIR)/Makefile || { \
		echo "no kernel headers at $(KDIR): install linux-headers-\$$(uname -r), or give KDIR=" >&2; \
		exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

tools:
	$(MAKE) -C tools/synq
	$(if $(HAVE_XTABLES),$(MAKE) -C tools/iptables)

.PHONY: demo bench check check-all check-deb deb docs soak mutants unit ynl
demo:
	scripts/setup build test demo
	bench/demo

bench:
	scripts/setup build test bench $(filter packaged,$(ONLY))
	bench/run

check:
	scripts/check

check-all:
	scripts/check --all

# Debian's packages
deb:
	scripts/setup build deb
	scripts/deb $(VERSION)

check-deb:
	scripts/setup build test deb
	scripts/check-deb

docs:
	scripts/setup docs
	sphinx-build -W -n -q -b html Documentation out/docs
	@echo "out/docs/index.html"

soak:
	scripts/setup build test
	scripts/soak

mutants:
	scripts/mutants

unit:
	$(MAKE) -C module/test check
	$(MAKE) -C tools/synq check
	$(MAKE) -C tools/prometheus check
	bench/results_test.py
	bench/tries_test.py
	bench/cost_test.py
	bench/classes_test.py

# Regenerate what comes from Documentation/netlink/specs/synq.yaml
ynl:
	scripts/ynl-regen $(YNL_SOURCE)

.PHONY: install clean help
install: all
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules_install
	$(MAKE) -C tools/synq install PREFIX=$(PREFIX)
	$(if $(HAVE_XTABLES),$(MAKE) -C tools/iptables install)
	$(MAKE) -C tools/service install PREFIX=$(PREFIX)
	$(MAKE) -C tools/prometheus install PREFIX=$(PREFIX)

clean:
	-test -e $(KDIR)/Makefile && $(MAKE) -C $(KDIR) M=$(CURDIR) clean
	$(MAKE) -C tools/synq clean
	$(MAKE) -C tools/iptables clean
	$(MAKE) -C module/test clean
	$(MAKE) -C selftests clean
	rm -rf out

help:
	@echo 'make [KDIR=DIR]   the modules (for the running kernel), the command, and the'
	@echo '                  library for iptables, where libxtables is there'
	@echo 'make demo         an overloaded Apache in a VM, without and with synq'
	@echo '                  (FAST=1: 3 minutes instead of 10); out/demo.*'
	@echo 'make bench        experiments against stock and rivals, 60 minutes each'
	@echo '                  (ONLY=overload|flood|insertion, FAST=1: 12 minutes,'
	@echo '                  CELLS=base); out/bench/'
	@echo 'make check        everything that CI runs, in VMs of its own'
	@echo 'make check-all    the same on more kernels, one of them with'
	@echo '                  sanitizers and two CPUs, which takes an hour more'
	@echo 'make deb          packages for Debian 12 and 13; out/deb/'
	@echo 'make check-deb    installs, upgrades, boots and purges them in VMs with Debian 12'
	@echo '                  and 13; out/check-deb/'
	@echo 'make soak         random owners of sockets against the module, in a VM, for an hour'
	@echo '                  (DURATION=3600, KERNEL=uml|6.1|6.12|debug, SEED=); out/soak/'
	@echo 'make docs         the documentation, in out/docs'
	@echo 'make unit         unit tests in user space'
	@echo 'make mutants      breaks one mechanism at a time; each must be noticed'
	@echo 'make ynl          regenerates the netlink code from the spec'
	@echo 'make install      modules, command, library, man pages, completion, unit (PREFIX=)'
	@echo 'make clean'
