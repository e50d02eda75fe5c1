# cuckoo_filter: build, install and test
#
#   make && make install            needs the server's headers and xxHash
#   make installcheck               regression tests on a running server
#   make check-core                 unit tests of the core, no server needed
#   make bench-core                 speed of the core, no server needed
#   make dist                       archive of the last commit, for PGXN
#   make deb                        Debian packages for all servers installed

EXTENSION = cuckoo_filter
MODULE_big = cuckoo_filter

CORE_OBJS = \
	src/core/cuckoo_block.o \
	src/core/cuckoo_bucket.o \
	src/core/cuckoo_build.o \
	src/core/cuckoo_filter.o \
	src/core/cuckoo_geometry.o \
	src/core/cuckoo_hash.o \
	src/core/cuckoo_header.o \
	src/core/cuckoo_image.o \
	src/core/cuckoo_list.o \
	src/core/cuckoo_merge.o \
	src/core/cuckoo_order.o \
	src/core/cuckoo_remedy.o \
	src/core/cuckoo_search.o \
	src/core/cuckoo_status.o \
	src/core/cuckoo_table.o \
	src/core/cuckoo_window.o
PG_OBJS = \
	src/pg/cuckoo_agg.o \
	src/pg/cuckoo_cache.o \
	src/pg/cuckoo_change.o \
	src/pg/cuckoo_collector.o \
	src/pg/cuckoo_cost.o \
	src/pg/cuckoo_datum.o \
	src/pg/cuckoo_error.o \
	src/pg/cuckoo_expanded.o \
	src/pg/cuckoo_family.o \
	src/pg/cuckoo_func.o \
	src/pg/cuckoo_hash_agg.o \
	src/pg/cuckoo_hasher.o \
	src/pg/cuckoo_info.o \
	src/pg/cuckoo_io.o \
	src/pg/cuckoo_key.o \
	src/pg/cuckoo_label.o \
	src/pg/cuckoo_module.o \
	src/pg/cuckoo_number.o \
	src/pg/cuckoo_parameters.o \
	src/pg/cuckoo_pending.o \
	src/pg/cuckoo_pool.o \
	src/pg/cuckoo_reader.o \
	src/pg/cuckoo_string.o \
	src/pg/cuckoo_support.o \
	src/pg/cuckoo_toast.o \
	src/pg/cuckoo_union.o
UPKEEP_OBJS = \
	src/upkeep/cuckoo_apply.o \
	src/upkeep/cuckoo_attach.o \
	src/upkeep/cuckoo_attachment.o \
	src/upkeep/cuckoo_batch.o \
	src/upkeep/cuckoo_columns.o \
	src/upkeep/cuckoo_drift.o \
	src/upkeep/cuckoo_guard.o \
	src/upkeep/cuckoo_install.o \
	src/upkeep/cuckoo_rebuild.o \
	src/upkeep/cuckoo_shard.o \
	src/upkeep/cuckoo_source.o \
	src/upkeep/cuckoo_sql.o \
	src/upkeep/cuckoo_trigger.o \
	src/upkeep/cuckoo_upkeep.o \
	src/upkeep/cuckoo_views.o \
	src/upkeep/cuckoo_write.o
OBJS = $(CORE_OBJS) $(PG_OBJS) $(UPKEEP_OBJS)

CORE_HEADERS = \
	src/core/cuckoo_block.h \
	src/core/cuckoo_block_rows.h \
	src/core/cuckoo_bucket.h \
	src/core/cuckoo_build.h \
	src/core/cuckoo_bytes.h \
	src/core/cuckoo_entry.h \
	src/core/cuckoo_filter.h \
	src/core/cuckoo_geometry.h \
	src/core/cuckoo_hash.h \
	src/core/cuckoo_header.h \
	src/core/cuckoo_image.h \
	src/core/cuckoo_list.h \
	src/core/cuckoo_merge.h \
	src/core/cuckoo_order.h \
	src/core/cuckoo_remedy.h \
	src/core/cuckoo_search.h \
	src/core/cuckoo_status.h \
	src/core/cuckoo_table.h \
	src/core/cuckoo_window.h \
	src/cuckoo_format.h
PG_HEADERS = \
	src/pg/cuckoo_agg.h \
	src/pg/cuckoo_cache.h \
	src/pg/cuckoo_change.h \
	src/pg/cuckoo_collector.h \
	src/pg/cuckoo_cost.h \
	src/pg/cuckoo_datum.h \
	src/pg/cuckoo_error.h \
	src/pg/cuckoo_expanded.h \
	src/pg/cuckoo_family.h \
	src/pg/cuckoo_hasher.h \
	src/pg/cuckoo_key.h \
	src/pg/cuckoo_label.h \
	src/pg/cuckoo_number.h \
	src/pg/cuckoo_parameters.h \
	src/pg/cuckoo_pending.h \
	src/pg/cuckoo_pg.h \
	src/pg/cuckoo_pool.h \
	src/pg/cuckoo_reader.h \
	src/pg/cuckoo_string.h \
	src/pg/cuckoo_toast.h \
	src/pg/pg_compat.h
UPKEEP_HEADERS = \
	src/upkeep/cuckoo_apply.h \
	src/upkeep/cuckoo_attachment.h \
	src/upkeep/cuckoo_batch.h \
	src/upkeep/cuckoo_columns.h \
	src/upkeep/cuckoo_install.h \
	src/upkeep/cuckoo_rebuild.h \
	src/upkeep/cuckoo_session.h \
	src/upkeep/cuckoo_shard.h \
	src/upkeep/cuckoo_source.h \
	src/upkeep/cuckoo_sql.h \
	src/upkeep/cuckoo_upkeep.h \
	src/upkeep/cuckoo_write.h

# What programs that read stored filters need.
HEADERS = src/cuckoo_format.h
DATA = sql/cuckoo_filter--1.0.0.sql

REGRESS = catalog io key equal remember func resolve agg hash limits format misuse flood toast stored \
	support patterns foreign union parallel inplace upkeep upkeep_odd upkeep_roles
REGRESS_OPTS = --load-extension=cuckoo_filter
ENCODING = UTF8
NO_LOCALE = 1
ISOLATION = read_stored_filter rename_label update_one_filter upsert_one_filter \
	upkeep_detach upkeep_levels upkeep_rebuild upkeep_truncate upkeep_writers
ISOLATION_OPTS = --inputdir=$(srcdir)/test/isolation \
	--load-extension=cuckoo_filter
TAP_TESTS = 1
TAP = 001_dump_restore 002_crash_recovery 003_replication 004_extension \
	005_faults 006_hostile_input 007_upkeep_dump 008_upkeep_stress \
	009_symbols 010_memory 011_upkeep_replication 012_toast \
	013_servers 014_damaged_toast 015_upkeep_model 016_vectors
PROVE_TESTS = $(TAP:%=test/t/%.pl)

PG_CPPFLAGS = -I$(srcdir)/src
# Only what is declared PGDLLEXPORT can be seen from outside.  PGXS does so from
# 16 on; where it does not, a module loaded earlier could stand in for functions
# of ours that have the same name.
PG_CFLAGS = -fvisibility=hidden
SHLIB_LINK = -lm

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
ifneq ($(wildcard $(PGXS)),)
include $(PGXS)
else ifeq ($(filter-out check-core bench-core dist,$(or $(MAKECMDGOALS),all)),)
srcdir := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
else
$(error "$(PG_CONFIG)" leads to no server headers: install postgresql-server-dev-NN \
	for your server NN, or say PG_CONFIG=/path/to/pg_config)
endif

# After what PGXS says; prove runs in the folder of the sources.
PROVE_FLAGS += -I test/t

# A build outside the sources has nowhere to put its objects yet; absolute,
# since by a relative name make would find the folder of the sources.
OBJDIRS = $(addprefix $(CURDIR)/src/,core pg upkeep)
$(OBJDIRS):
	mkdir -p $@

HEADER_FILES = $(CORE_HEADERS) $(PG_HEADERS) $(UPKEEP_HEADERS)
$(OBJS) $(OBJS:.o=.bc): $(addprefix $(srcdir)/,$(HEADER_FILES)) | $(OBJDIRS)

# Tests and benchmarks that need no server
.PHONY: check-core bench-core
check-core:
	$(MAKE) -C $(srcdir)/test/core check

bench-core:
	$(MAKE) -C $(srcdir)/bench/core run

# The version has one source, the control file.
DISTVERSION = $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" \
	$(srcdir)/$(EXTENSION).control)
DISTNAME = $(EXTENSION)-$(DISTVERSION)

.PHONY: dist deb
dist:
	git -C $(srcdir) archive --format=zip --prefix=$(DISTNAME)/ \
		-o $(CURDIR)/$(DISTNAME).zip HEAD

deb:
	pg_buildext updatecontrol
	dpkg-buildpackage -b -us -uc

# print-REGRESS and the like: what a script wants to know of this file
print-%:
	@echo $($*)
