/* At the end of arch/um/kernel/time.c: the clock that a program reads without a system call. A reading
 * takes as much virtual time as with one, and there are no readings beyond the next event. */
#include <linux/mm.h>
#include <linux/sched.h>
#include <as-layout.h>
#include <stub-data.h>

/* CONFIG_UML_MAX_USERSPACE_ITERATIONS counts the returns of a program to the kernel. */
#define MOST_READINGS 8192

void rtolab_before_program(void);
void rtolab_after_program(void);
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
	if (!time_travel_shm || time_travel_ext_waiting)
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
	if (made && made <= vdso_readings)
		time_travel_set_time(time_travel_time + made * VDSO_READING_NS);
	shared->left = shared->made = vdso_readings = 0;
}

/* Writes the address of `struct vdso_clock` into the copy of the vDSO that programs see. */
void rtolab_place_vdso_clock(void *vdso)
{
	unsigned long *word = vdso;

	for (; word < (unsigned long *)(vdso + PAGE_SIZE); word++)
		if (*word == VDSO_CLOCK_PLACE)
			*word = STUB_DATA + offsetof(struct stub_data, clock);
}
