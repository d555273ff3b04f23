/* In the place of arch/x86/um/vdso/um_vdso.c: most readings of the clock are no system calls. */
#define DISABLE_BRANCH_PROFILING

#include <linux/time.h>
#include <asm/unistd.h>
#include <skas/vdso_clock.h>

#define SECOND_NS 1000000000ull

int __vdso_clock_gettime(clockid_t clock, struct __kernel_old_timespec *now);
int __vdso_gettimeofday(struct __kernel_old_timeval *now, struct timezone *zone);
__kernel_old_time_t __vdso_time(__kernel_old_time_t *now);

/* The address of the process's `struct vdso_clock`; the kernel writes it here (vdso_clock.c). */
static const volatile unsigned long place = VDSO_CLOCK_PLACE;

static int read_clock(clockid_t clock, unsigned long long *ns)
{
	volatile struct vdso_clock *shared = (void *)place;

	if ((unsigned int)clock > 1 || !shared->left)
		return 0;
	shared->left--;
	shared->made++;
	*ns = shared->ns[clock] + (unsigned long long)shared->made * VDSO_READING_NS;
	return 1;
}

static long call(long number, long first, void *second)
{
	long result;

	asm volatile("syscall" : "=a"(result) : "0"(number), "D"(first), "S"(second)
		     : "rcx", "r11", "memory");
	return result;
}

int __vdso_clock_gettime(clockid_t clock, struct __kernel_old_timespec *now)
{
	unsigned long long ns;

	if (!read_clock(clock, &ns))
		return call(__NR_clock_gettime, clock, now);
	now->tv_sec = ns / SECOND_NS;
	now->tv_nsec = ns % SECOND_NS;
	return 0;
}
int clock_gettime(clockid_t, struct __kernel_old_timespec *)
	__attribute__((weak, alias("__vdso_clock_gettime")));

int __vdso_gettimeofday(struct __kernel_old_timeval *now, struct timezone *zone)
{
	unsigned long long ns;

	if (!now || zone || !read_clock(0, &ns))
		return call(__NR_gettimeofday, (long)now, zone);
	now->tv_sec = ns / SECOND_NS;
	now->tv_usec = ns % SECOND_NS / 1000;
	return 0;
}
int gettimeofday(struct __kernel_old_timeval *, struct timezone *)
	__attribute__((weak, alias("__vdso_gettimeofday")));

__kernel_old_time_t __vdso_time(__kernel_old_time_t *now)
{
	return call(__NR_time, (long)now, 0);
}
__kernel_old_time_t time(__kernel_old_time_t *) __attribute__((weak, alias("__vdso_time")));
