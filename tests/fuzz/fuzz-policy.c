/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any bytes as a policy file: read and decided on, or refused with the place of the fault. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decide(const struct wcache_policy *policy)
{
	const char *const paths[] = { "/", "/srv/db" };
	struct wcache_policy_facts facts = {
		.size = sizeof(facts),
		.bus = "sata",
		.model = "LAB SATA DISK",
		.serial = "",
		.wwn = "0x5000c500a1b2c3d4",
		.rotational = WCACHE_NO,
	};
	const char *where;
	enum wcache_wanted blind = wcache_policy_decide(policy, &facts, &where);

	facts.paths = paths;
	facts.n_paths = 2;
	/* Paths can only add to what is known. */
	if (!wcache_policy_decide(policy, &facts, &where) && blind)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wcache_policy *policy = calloc(1, sizeof(*policy));
	char why[128] = "";
	int err;

	if (!policy)
		abort();
	err = wc_policy_parse(policy, "f", (const char *)data, size, why, sizeof(why));
	if (!err)
		decide(policy);
	else if (err == -EBADMSG && strncmp(why, "f:", 2))
		abort();
	wcache_policy_free(policy);
	return 0;
}
