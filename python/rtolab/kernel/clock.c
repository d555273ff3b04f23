/* Loaded into the programs of a guest. There a look at the clock takes 256 ns of virtual time, and
 * computing takes no time: a program that waits without sleeping looks millions of times in a virtual
 * second. After LOOKS looks without a pause, each further one sleeps
 * first. Only looks and virtual times decide that, so that all runs of a program are equal. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS = 10000, PAUSE_NS = 2000, SLEEP_NS = 100000, CLOCKS = 8 };

static __thread int64_t last[CLOCKS];
static __thread unsigned looks;

/* The C library's own, which reads most clocks without a system call (vdso.c). */
static int read_clock(clockid_t clock, struct timespec *now)
{
	static int (*library)(clockid_t, struct timespec *);

	if (!library)
		library = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	return library ? library(clock, now) : syscall(SYS_clock_gettime, clock, now);
}

static int look(clockid_t clock, struct timespec *now)
{
	const struct timespec span = {.tv_nsec = SLEEP_NS};
	int failed = read_clock(clock, now);

	/* Other numbers are clocks of processes and devices. */
	if (failed || clock < 0 || clock >= CLOCKS)
		return failed;
	int64_t at = now->tv_sec * 1000000000ll + now->tv_nsec;

	looks = at - last[clock] <= PAUSE_NS ? looks + 1 : 0;
	last[clock] = at;
	if (looks > LOOKS) {
		syscall(SYS_nanosleep, &span, NULL);
		failed = read_clock(clock, now);
		last[clock] = now->tv_sec * 1000000000ll + now->tv_nsec;
	}
	return failed;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	return look(clock, now);
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec at;

	(void)zone;
	if (look(CLOCK_REALTIME, &at))
		return -1;
	*now = (struct timeval){.tv_sec = at.tv_sec, .tv_usec = at.tv_nsec / 1000};
	return 0;
}

time_t time(time_t *now)
{
	struct timespec at;

	if (look(CLOCK_REALTIME, &at))
		return -1;
	if (now)
		*now = at.tv_sec;
	return at.tv_sec;
}
