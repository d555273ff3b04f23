/* Loaded into a guest kernel's process: its random numbers come from RTOLAB_SEED, it ends with the
 * process that started it, and it can write nowhere but in its own folder (Landlock). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/types.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Reads the personality without changing it. */
enum { ANY_PERSONALITY = 0xffffffff };

static uint64_t state;

/* include/uapi/linux/landlock.h, which older systems lack. */
enum { CREATE_RULESET = 444, ADD_RULE, RESTRICT_SELF };
/* WRITE_FILE; REMOVE_DIR to MAKE_SYM; REFER and TRUNCATE since versions 2 and 3. */
enum { WRITE_FILE = 1 << 1, CHANGES = 0x1ff2, REFER = 1 << 13, TRUNCATE = 1 << 14 };
struct ruleset { uint64_t files, network, scoped; };
struct beneath { uint64_t allowed; int32_t folder; } __attribute__((packed));

static void allow(int rules, const char *path, uint64_t allowed)
{
	struct beneath rule = {allowed, open(path, O_PATH | O_CLOEXEC)};

	if (rule.folder < 0 || syscall(ADD_RULE, rules, 1, &rule, 0))
		_exit(1);
	close(rule.folder);
}

/* Files can be changed in the current folder alone, TCP is not there, and signals and traces reach
 * the processes of this kernel alone, as far as the system knows these rules. */
static void confine(void)
{
	int version = syscall(CREATE_RULESET, NULL, 0, 1);
	struct ruleset wanted = {CHANGES, 0, 0};

	if (version < 1)
		return;
	wanted.files |= (version > 1 ? REFER : 0) | (version > 2 ? TRUNCATE : 0);
	wanted.network = version > 3 ? 3 : 0;
	wanted.scoped = version > 5 ? 3 : 0;
	int rules = syscall(CREATE_RULESET, &wanted, version > 5 ? 24 : version > 3 ? 16 : 8, 0);

	if (rules < 0)
		return;
	allow(rules, ".", wanted.files);
	allow(rules, "/dev/null", wanted.files & (WRITE_FILE | TRUNCATE));
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(RESTRICT_SELF, rules, 0))
		_exit(1);
	close(rules);
}

/* A kernel's memory begins after its program's, so its size depends on where that is. */
static void fix_addresses(char **arguments)
{
	int now = personality(ANY_PERSONALITY);

	if (now == -1 || now & ADDR_NO_RANDOMIZE || personality(now | ADDR_NO_RANDOMIZE) == -1)
		return;
	execv("/proc/self/exe", arguments);
}

/* The C library calls it with the arguments of the program. */
__attribute__((constructor)) static void begin(int number, char **arguments)
{
	const char *seed = getenv("RTOLAB_SEED"), *parent = getenv("RTOLAB_PARENT");

	(void)number;
	fix_addresses(arguments);
	/* splitmix64 */
	state = strtoull(seed ? seed : "1", NULL, 10);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (parent && getppid() != atoi(parent))
		_exit(1);
	confine();
}

/* The guest's memory: no file of a folder, which may be small. */
static int open_memory(void)
{
	return memfd_create("guest", MFD_CLOEXEC);
}

static int open_any(const char *path, int flags, mode_t mode)
{
	return (flags & O_TMPFILE) == O_TMPFILE ? open_memory() : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list rest;

	va_start(rest, flags);
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;

	va_end(rest);
	return open_any(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list rest;

	va_start(rest, flags);
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;

	va_end(rest);
	return open_any(path, flags | O_LARGEFILE, mode);
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
