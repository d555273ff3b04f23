/* The programs of a guest. They see the host's files and cannot change them, they have the rights of
 * the user who runs rtolab and those over the guest's network, and their output and their end are
 * reported. */
#define _GNU_SOURCE
#include "agent.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROGRAMS = 8, PART = 1400, MOST_WORDS = 16 << 20, MOST_GROUPS = 256 };
/* The number of the file that tells of children. */
enum { CHILDREN = PROGRAMS * 2 };

struct start { uint32_t uid, gid, arguments, groups; } __attribute__((packed));

static struct { pid_t pid; int out[2]; } programs[PROGRAMS];
static char *words;
static size_t kept;
static int children = -1;

static int mounted(const char *kind, const char *at, unsigned long flags, const char *options)
{
	return mount(kind, at, kind, flags, options) ? errno : 0;
}

/* The host's files at `path`, and what is written there in memory. */
static int show_changeable(const char *path, int number)
{
	char at[64], upper[64], work[64], options[256];
	struct stat found;

	snprintf(at, sizeof at, "/host%s", path);
	if (lstat(at, &found) || !S_ISDIR(found.st_mode))
		return 0;
	snprintf(upper, sizeof upper, "/scratch/upper%d", number);
	snprintf(work, sizeof work, "/scratch/work%d", number);
	if (mkdir(upper, 0700) || mkdir(work, 0700) || chmod(upper, 01777))
		return errno;
	snprintf(options, sizeof options, "lowerdir=%s,upperdir=%s,workdir=%s", at, upper, work);
	return mounted("overlay", at, MS_NOSUID | MS_NODEV, options);
}

static int memory_at(const char *at, const char *options)
{
	struct stat found;

	return lstat(at, &found) || !S_ISDIR(found.st_mode) ? 0 : mounted("tmpfs", at, MS_NOSUID, options);
}

int show_files(void)
{
	unsigned long only_read = MS_RDONLY | MS_NOSUID | MS_NODEV;
	int failed = mounted("hostfs", "/host", only_read, "/");
	sigset_t child;

	failed = failed ? failed : mounted("tmpfs", "/scratch", MS_NOSUID | MS_NODEV, NULL);
	failed = failed ? failed : show_changeable("/tmp", 0);
	failed = failed ? failed : show_changeable("/var/tmp", 1);
	failed = failed ? failed : memory_at("/host/run", "mode=755");
	failed = failed ? failed : mounted("proc", "/host/proc", 0, NULL);
	failed = failed ? failed : mounted("sysfs", "/host/sys", 0, NULL);
	failed = failed ? failed : mounted("devtmpfs", "/host/dev", MS_NOSUID, NULL);
	if (failed)
		return failed;
	mkdir("/host/dev/pts", 0755);
	mkdir("/host/dev/shm", 01777);
	failed = mounted("devpts", "/host/dev/pts", MS_NOSUID, "mode=620,ptmxmode=666");
	failed = failed ? failed : mounted("tmpfs", "/host/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777");
	if (failed)
		return failed;
	(void)!symlink("/proc/self/fd", "/host/dev/fd");
	(void)!symlink("/proc/self/fd/0", "/host/dev/stdin");
	(void)!symlink("/proc/self/fd/1", "/host/dev/stdout");
	(void)!symlink("/proc/self/fd/2", "/host/dev/stderr");
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (children < 0)
		return errno;
	watch_program(children, CHILDREN);
	return 0;
}

int make_tun(void)
{
	struct ifreq device = {.ifr_name = "stack0", .ifr_flags = IFF_TUN | IFF_NO_PI};
	int fd = open("/host/dev/net/tun", O_RDWR | O_CLOEXEC);
	int failed = fd < 0 || ioctl(fd, TUNSETIFF, &device) || ioctl(fd, TUNSETPERSIST, 1) ? errno : 0;

	close(fd);
	return failed;
}

int keep_words(const void *body, size_t length)
{
	uint32_t at;

	memcpy(&at, body, sizeof at);
	length -= sizeof at;
	if (at > MOST_WORDS)
		return E2BIG;
	char *more = realloc(words, at + length + 1);

	if (!more)
		return ENOMEM;
	words = more;
	memcpy(words + at, (const char *)body + sizeof at, length);
	kept = at + length;
	words[kept] = 0;
	return 0;
}

/* The words from `from` on, at most `most` of them, and NULL. */
static char **listed(char **from, size_t most)
{
	char *word = *from, **list = NULL;
	size_t number = 0;

	while (number < most && word < words + kept) {
		list = realloc(list, (number + 2) * sizeof *list);
		if (!list)
			_exit(127);
		list[number++] = word;
		word += strlen(word) + 1;
	}
	*from = word;
	if (!list)
		list = calloc(1, sizeof *list);
	else
		list[number] = NULL;
	return list;
}

/* Leaves a program nothing but rights over the network and over processes and files of its own. */
static int give_up_rights(const struct start *start, const gid_t *groups)
{
	static const int of_all[] = {CAP_NET_BIND_SERVICE, CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_NICE};
	static const int of_root[] = {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID, CAP_KILL,
		CAP_SETGID, CAP_SETUID, CAP_IPC_LOCK, CAP_SYS_RESOURCE};
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2] = {0};
	uint64_t wanted = 0;

	for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++)
		wanted |= 1ull << of_all[i];
	for (size_t i = 0; !start->uid && i < sizeof of_root / sizeof *of_root; i++)
		wanted |= 1ull << of_root[i];
	for (int one = 0, has; (has = prctl(PR_CAPBSET_READ, one)) >= 0; one++)
		if (!has)
			wanted &= ~(1ull << one);
		else if (!(wanted >> one & 1) && prctl(PR_CAPBSET_DROP, one))
			return errno;
	if (prctl(PR_SET_KEEPCAPS, 1) || setgroups(start->groups, groups) ||
	    setresgid(start->gid, start->gid, start->gid) || setresuid(start->uid, start->uid, start->uid))
		return errno;
	for (int half = 0; half < 2; half++)
		sets[half].effective = sets[half].permitted = sets[half].inheritable = wanted >> 32 * half;
	if (syscall(SYS_capset, &head, sets))
		return errno;
	for (int one = 0; one < 64; one++)
		if (wanted >> one & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, one, 0, 0))
			return errno;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? errno : 0;
}

static void become(const struct start *start, const gid_t *groups, const int out[2], int failed)
{
	char *word = words + strlen(words) + 1;
	char **arguments = listed(&word, start->arguments), **environment = listed(&word, -1);
	sigset_t none;
	int32_t problem;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	umask(022);
	problem = chroot("/host") || chdir("/") ? errno : 0;
	if (!problem) {
		int null = open("/dev/null", O_RDWR);

		problem = null < 0 || dup2(null, 0) < 0 || dup2(out[0], 1) < 0 || dup2(out[1], 2) < 0 ? errno : 0;
		if (null > 2)
			close(null);
	}
	problem = problem ? problem : give_up_rights(start, groups);
	if (!problem && chdir(words))
		/* Negative: it concerns the folder. */
		problem = -errno;
	if (!problem) {
		environ = environment;
		execvp(arguments[0], arguments);
		problem = errno;
	}
	(void)!write(failed, &problem, sizeof problem);
	_exit(127);
}

int start_program(uint16_t program, const void *body, size_t length)
{
	struct start start;
	gid_t groups[MOST_GROUPS];
	int out[2][2], failed[2], problem = 0;

	memcpy(&start, body, sizeof start);
	if (program >= PROGRAMS || programs[program].pid || !words || start.groups > MOST_GROUPS ||
	    length < sizeof start + start.groups * sizeof *groups)
		return EINVAL;
	memcpy(groups, (const char *)body + sizeof start, start.groups * sizeof *groups);
	if (pipe2(out[0], O_CLOEXEC) || pipe2(out[1], O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		return errno;
	pid_t pid = fork();

	if (pid < 0)
		return errno;
	if (!pid)
		become(&start, groups, (int[]){out[0][1], out[1][1]}, failed[1]);
	close(failed[1]);
	for (int stream = 0; stream < 2; stream++) {
		close(out[stream][1]);
		fcntl(out[stream][0], F_SETFL, O_NONBLOCK);
		programs[program].out[stream] = out[stream][0];
	}
	if (read(failed[0], &problem, sizeof problem) != sizeof problem)
		problem = 0;
	close(failed[0]);
	free(words);
	words = NULL;
	kept = 0;
	if (problem)
		return problem;
	programs[program].pid = pid;
	for (int stream = 0; stream < 2; stream++)
		watch_program(out[stream][0], program * 2 + stream);
	return 0;
}

/* Reports what a program has written; returns whether more may follow. */
static int pass_on(int program, int stream)
{
	char part[PART];
	int *from = &programs[program].out[stream];
	ssize_t got = *from < 0 ? 0 : read(*from, part, sizeof part);

	if (got > 0) {
		say(OUTPUT, program, stream, 0, part, got);
		return 1;
	}
	if (*from >= 0 && (got == 0 || (errno != EAGAIN && errno != EINTR))) {
		close(*from);
		*from = -1;
	}
	return 0;
}

static void on_children(void)
{
	struct signalfd_siginfo came;
	int status;
	pid_t pid;

	while (read(children, &came, sizeof came) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (int program = 0; program < PROGRAMS; program++) {
			int32_t told = status;

			if (programs[program].pid != pid)
				continue;
			for (int stream = 0; stream < 2; stream++)
				while (pass_on(program, stream))
					;
			say(EXITED, program, 0, 0, &told, sizeof told);
			programs[program].pid = -1;
		}
}

void on_program(int number)
{
	if (number == CHILDREN)
		on_children();
	else
		pass_on(number / 2, number % 2);
}
