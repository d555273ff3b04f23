/* packetdrill begins a script after ten ticks of times(2), for which it waits without sleeping. In
 * a guest on a virtual clock no time passes meanwhile, so here each call sleeps. */
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS 10000000L

clock_t times(struct tms *used)
{
	struct timespec now;

	(void)used;
	usleep(1000);
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * (1000000000L / TICK_NS) + now.tv_nsec / TICK_NS;
}
