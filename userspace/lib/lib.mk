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

$(BUILD)/libperfclock.pc: userspace/lib/libperfclock.pc.in
	@mkdir -p $(@D)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@VERSION@|$(VERSION)|' -e 's|@LIBS_PRIVATE@|$(PC_LDLIBS)|' \
		$< > $@

-include $(LIB_OBJS:.o=.d)
