// SPDX-License-Identifier: GPL-2.0
#include <linux/rcupdate.h>

void probe(struct rcu_head *head, rcu_callback_t callback);
void probe(struct rcu_head *head, rcu_callback_t callback)
{
	call_rcu_hurry(head, callback);
}
