/* At the end of arch/um/kernel/time.c: the clock that a program reads without a system call. A reading
 * takes as much virtual time as with one, and there are no readings beyond the next event.
 *
 * Computing takes no time, so a program that waits without sleeping looks at the clock, or whether
 * there is something to read, millions of times in a virtual second. After MOST_LOOKS looks without a
 * result or a pause, each further one sleeps. */
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <as-layout.h>
#include <asm/unistd.h>
#include <stub-data.h>

/* CONFIG_UML_MAX_USERSPACE_ITERATIONS counts the returns of a program to the kernel. */
#define MOST_READINGS 8192
#define MOST_LOOKS 10000
#define PAUSE_NS 2000
#define SLEEP_NS 100000

void rtolab_before_program(void);
void rtolab_after_program(void);
void rtolab_after_call(int number, unsigned long result);
void rtolab_place_vdso_clock(void *vdso);

/* What the program that runs may read without a system call. */
static unsigned int vdso_readings;

static struct vdso_clock *vdso_clock_of_program(void)
{
	return &((struct stub_data *)current->mm->context.id.stack)->clock;
}

/* The kernel lets the current process run. */
void rtolab_before_program(void)
{
	struct vdso_clock *shared = vdso_clock_of_program();
	struct time_travel_event *first = time_travel_first_event();
	unsigned long long until, readings = 0;
	unsigned long flags;

	shared->left = shared->made = vdso_readings = 0;
	if (!time_travel_shm || time_travel_ext_waiting || shared->looks > MOST_LOOKS)
		return;
	until = *time_travel_ext_free_until - time_travel_shm_offset;
	if (first && first->time < until)
		until = first->time;
	if (until > time_travel_time)
		readings = (until - time_travel_time - 1) / VDSO_READING_NS;
	if (!readings)
		return;
	/* Here the clock does not advance by being read. */
	local_irq_save(flags);
	shared->ns[CLOCK_REALTIME] = ktime_get_real_ns();
	shared->ns[CLOCK_MONOTONIC] = ktime_get_ns();
	local_irq_restore(flags);
	vdso_readings = readings < MOST_READINGS ? readings : MOST_READINGS;
	shared->left = vdso_readings;
}

/* The current process has entered the kernel. */
void rtolab_after_program(void)
{
	struct vdso_clock *shared = vdso_clock_of_program();
	unsigned long long made = shared->made;

	/* The program can write there. */
	if (made && made <= vdso_readings) {
		time_travel_set_time(time_travel_time + made * VDSO_READING_NS);
		shared->looks += made;
	}
	shared->left = shared->made = vdso_readings = 0;
	shared->entered_ns = time_travel_time;
}

static int only_looks(int number, unsigned long result)
{
	switch (number) {
	case __NR_clock_gettime:
	case __NR_gettimeofday:
	case __NR_time:
	case __NR_sched_yield:
		return 1;
	}
	/* No data, no event, no thread that was woken up; or an error. */
	return (long)result <= 0;
}

/* The current process has made a system call, and will get its result. */
void rtolab_after_call(int number, unsigned long result)
{
	struct vdso_clock *shared = vdso_clock_of_program();
	ktime_t span = SLEEP_NS;

	if (time_travel_time - shared->entered_ns > PAUSE_NS || !only_looks(number, result)) {
		shared->looks = 0;
		return;
	}
	if (shared->looks++ < MOST_LOOKS)
		return;
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&span, HRTIMER_MODE_REL);
}

/* Writes the address of `struct vdso_clock` into the copy of the vDSO that programs see. */
void rtolab_place_vdso_clock(void *vdso)
{
	unsigned long *word = vdso;

	for (; word < (unsigned long *)(vdso + PAGE_SIZE); word++)
		if (*word == VDSO_CLOCK_PLACE)
			*word = STUB_DATA + offsetof(struct stub_data, clock);
}
