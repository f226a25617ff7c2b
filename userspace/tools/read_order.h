/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When was a delivered record read? The session tells of records as they are
 * read, ring by ring; here each gets a number, and gives it back when the
 * record is delivered. Who would have handled records as read would have
 * handled them by these numbers.
 */
#ifndef TOOLS_READ_ORDER_H
#define TOOLS_READ_ORDER_H

#include <stdint.h>

struct read_order {
	struct read_ring *rings;
	unsigned int nr_rings;
	uint64_t next;
};

void read_order_free(struct read_order *r);
void read_order_read(struct read_order *r, uint32_t ring, uint64_t stamp);
/* The number, from 1 on; 0: never heard of it. */
uint64_t read_order_delivered(struct read_order *r, uint32_t ring,
			      uint64_t stamp);

#endif /* TOOLS_READ_ORDER_H */
