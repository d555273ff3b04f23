/* Loaded into a guest kernel's process: its random numbers come from RTOLAB_SEED, and it ends with
 * the process that started it. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

static uint64_t state;

__attribute__((constructor)) static void begin(void)
{
	const char *seed = getenv("RTOLAB_SEED"), *parent = getenv("RTOLAB_PARENT");

	/* splitmix64 */
	state = strtoull(seed ? seed : "1", NULL, 10);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (parent && getppid() != atoi(parent))
		_exit(1);
}

ssize_t getrandom(void *buffer, size_t length, unsigned flags)
{
	uint8_t *bytes = buffer;

	(void)flags;
	for (size_t i = 0; i < length; i++) {
		uint64_t z = state += 0x9e3779b97f4a7c15;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
		z = (z ^ z >> 27) * 0x94d049bb133111eb;
		bytes[i] = z ^ z >> 31;
	}
	return length;
}

int getentropy(void *buffer, size_t length)
{
	getrandom(buffer, length, 0);
	return 0;
}
