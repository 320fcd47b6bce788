/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Work on many targets side by side. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "pool.h"

#define STACK_SIZE (256 * 1024)

enum job_state {
	JOB_QUEUED = 0,
	JOB_RUNNING,
	JOB_DONE,
	JOB_GIVEN_UP,
};

struct slot {
	enum job_state state;
	struct timespec started;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void (*work)(void *job);
	void *const *jobs;
	struct slot *slots;
	size_t n_jobs, next;
	size_t threads, given_up; /* that are running, and those of them nobody waits for */
	bool ended; /* whoever is last frees it */
};

static void pool_free(struct pool *p)
{
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p->slots);
	free(p);
}

static void *thread_main(void *arg)
{
	struct pool *p = arg;
	bool last;

	pthread_mutex_lock(&p->lock);
	while (p->next < p->n_jobs) {
		size_t i = p->next++;

		p->slots[i].state = JOB_RUNNING;
		clock_gettime(CLOCK_MONOTONIC, &p->slots[i].started);
		pthread_cond_broadcast(&p->changed);
		pthread_mutex_unlock(&p->lock);
		p->work(p->jobs[i]);
		pthread_mutex_lock(&p->lock);
		if (p->slots[i].state == JOB_GIVEN_UP) {
			p->given_up--;
			break;
		}
		p->slots[i].state = JOB_DONE;
		pthread_cond_broadcast(&p->changed);
	}
	p->threads--;
	last = p->ended && !p->threads;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	if (last)
		pool_free(p);
	return NULL;
}

static bool add_thread(struct pool *p)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	p->threads++;
	err = pthread_create(&thread, &attr, thread_main, p);
	if (err)
		p->threads--;
	pthread_attr_destroy(&attr);
	return !err;
}

struct pool *pool_start(void (*work)(void *job), void *const jobs[], size_t n_jobs,
			size_t n_threads)
{
	struct pool *p = calloc(1, sizeof(*p));
	pthread_condattr_t attr;

	if (p)
		p->slots = calloc(n_jobs ? n_jobs : 1, sizeof(*p->slots));
	if (!p || !p->slots)
		abort();
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->changed, &attr);
	pthread_condattr_destroy(&attr);
	p->work = work;
	p->jobs = jobs;
	p->n_jobs = n_jobs;
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < n_threads && i < n_jobs; i++)
		if (!add_thread(p))
			break;
	/* Not one thread to be had: do it here. */
	if (!p->threads && n_jobs) {
		p->threads = 1;
		pthread_mutex_unlock(&p->lock);
		thread_main(p);
		return p;
	}
	pthread_mutex_unlock(&p->lock);
	return p;
}

static bool is_past(const struct timespec *t)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > t->tv_sec || (now.tv_sec == t->tv_sec && now.tv_nsec >= t->tv_nsec);
}

bool pool_wait(struct pool *p, size_t i, unsigned int limit_ms)
{
	struct slot *slot = &p->slots[i];
	bool done;

	pthread_mutex_lock(&p->lock);
	while (slot->state != JOB_DONE && slot->state != JOB_GIVEN_UP) {
		struct timespec end = slot->started;

		if (slot->state == JOB_QUEUED) {
			/* Behind others; if those all hang, make room. */
			clock_gettime(CLOCK_MONOTONIC, &end);
		}
		end.tv_sec += limit_ms / 1000;
		end.tv_nsec += limit_ms % 1000 * 1000000L;
		if (end.tv_nsec >= 1000000000L) {
			end.tv_sec++;
			end.tv_nsec -= 1000000000L;
		}
		if (pthread_cond_timedwait(&p->changed, &p->lock, &end) != ETIMEDOUT)
			continue;
		if (slot->state == JOB_RUNNING && is_past(&end)) {
			slot->state = JOB_GIVEN_UP;
			p->given_up++;
			add_thread(p);
		} else if (slot->state == JOB_QUEUED) {
			add_thread(p);
		}
	}
	done = slot->state == JOB_DONE;
	pthread_mutex_unlock(&p->lock);
	return done;
}

void pool_end(struct pool *p)
{
	bool last;

	pthread_mutex_lock(&p->lock);
	while (p->threads > p->given_up)
		pthread_cond_wait(&p->changed, &p->lock);
	p->ended = true;
	last = !p->threads;
	pthread_mutex_unlock(&p->lock);
	if (last)
		pool_free(p);
}
