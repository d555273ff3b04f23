/* The clock of a guest's programs, in the memory that its kernel shares with each process. As long as
 * `left` is not 0, a program reads the clock without a system call. */
#ifndef VDSO_CLOCK_H
#define VDSO_CLOCK_H

/* The virtual time of a reading, in nanoseconds: TIMER_MULTIPLIER in arch/um. */
#define VDSO_READING_NS 256
/* In the vDSO's image, where the address of `struct vdso_clock` will be. */
#define VDSO_CLOCK_PLACE 0x7c6f636b706c6163

struct vdso_clock {
	/* CLOCK_REALTIME and CLOCK_MONOTONIC before the first of these readings. */
	long long ns[2];
	/* How many readings are left and have been made since the kernel let the program run. */
	unsigned int left, made;
	/* The kernel's own: when the program entered it, and how often it has looked for something to do
	 * since it last found something. */
	unsigned long long entered_ns;
	unsigned int looks;
};

#endif
