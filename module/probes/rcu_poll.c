// SPDX-License-Identifier: GPL-2.0
#include <linux/rcupdate.h>

bool probe(void);
bool probe(void)
{
	return poll_state_synchronize_rcu(start_poll_synchronize_rcu());
}
