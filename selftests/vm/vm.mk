# SPDX-License-Identifier: GPL-2.0
# Guests under QEMU; selftests/vm/README says how they work.

VM := selftests/vm
