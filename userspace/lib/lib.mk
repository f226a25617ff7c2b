# SPDX-License-Identifier: LGPL-2.1 OR MIT
# libperfclock, static and shared.

LIB_SRCS := $(wildcard userspace/lib/*/*.c)
LIB_OBJS := $(LIB_SRCS:%.c=$(BUILD)/obj/%.o)
LIB_A := $(BUILD)/libperfclock.a
LIB_SONAME := libperfclock.so.0
LIB_SO := $(BUILD)/libperfclock.so.$(VERSION)
LIB_MAP := userspace/lib/libperfclock.map

ALL += $(LIB_A) $(LIB_SO) $(BUILD)/libperfclock.so $(BUILD)/libperfclock.pc

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(PC_CPPFLAGS) $(CPPFLAGS) $(PC_CFLAGS) $(CFLAGS) -fPIC \
		-MMD -MP -c -o $@ $<

$(LIB_A): $(LIB_OBJS)
	rm -f $@
	$(AR) rcs $@ $^

$(LIB_SO): $(LIB_OBJS) $(LIB_MAP)
	$(CC) $(LDFLAGS) -shared -Wl,-soname,$(LIB_SONAME) \
		-Wl,--version-script=$(LIB_MAP) $(if $(SANITIZE),,-Wl,-z,defs) \
		-o $@ $(LIB_OBJS) $(PC_LDLIBS)

$(BUILD)/libperfclock.so: $(LIB_SO)
	ln -sf $(notdir $<) $(BUILD)/$(LIB_SONAME)
	ln -sf $(LIB_SONAME) $@

# Made anew when PREFIX changes, which no time stamp shows.
.PHONY: FORCE
FORCE:
$(BUILD)/libperfclock.pc: userspace/lib/libperfclock.pc.in FORCE
	@mkdir -p $(@D)
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' \
		-e 's|@LIBS_PRIVATE@|$(PC_LDLIBS)|' $< > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

LIB_HEADERS := $(wildcard userspace/lib/include/*.h \
	       userspace/lib/include/perfclock/*.h)
INSTALL_FILES += 644:$(LIB_A):$(LIBDIR)/libperfclock.a \
	755:$(LIB_SO):$(LIBDIR)/$(notdir $(LIB_SO)) \
	link:$(notdir $(LIB_SO)):$(LIBDIR)/$(LIB_SONAME) \
	link:$(LIB_SONAME):$(LIBDIR)/libperfclock.so \
	644:$(BUILD)/libperfclock.pc:$(LIBDIR)/pkgconfig/libperfclock.pc \
	644:uapi/linux/perf_clock.h:$(INCLUDEDIR)/linux/perf_clock.h \
	$(foreach h,$(LIB_HEADERS),\
	644:$(h):$(INCLUDEDIR)/$(h:userspace/lib/include/%=%))

-include $(LIB_OBJS:.o=.d)
