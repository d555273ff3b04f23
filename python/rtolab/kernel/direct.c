/* The other part of shim.so: the guest kernel's clock and network card without most of their messages.
 * They are those of include/uapi/linux/um_timetravel.h and of vhost-user, as arch/um sends and reads
 * them through the C library. What the controller would write to a socket, or read from one, is in
 * memory that it shares with the kernel for the time; crates/live/src/linux/guest/schedule.rs is the
 * other side.
 *
 * An interrupt: the controller sets `calls` and sends RUN. The kernel reads RUN here and first handles
 * the interrupts, with the signal and the messages by which it would have got them.
 * A kick: `announced` is set, and the kernel may advance no further. So it soon waits, and the
 * controller finds the packets in the queue, at the time at which they were sent. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { VERSION = 1, ACK = 0, WAIT = 3, RUN = 6, HEADER = 4096, PAGE = 4096 };
enum { SET_SLAVE_REQ_FD = 21, VRING_KICK = 35, VRING_CALL = 4, QUEUES = 2 };
enum { POLLIN = 1 };
/* Flags of vhost-user. */
enum { OF_VERSION = 1, IS_REPLY = 4, NEED_REPLY = 8 };

/* `struct um_timetravel_schedshm`: the length is that of the kernels' part. */
struct times { uint32_t version, length; uint64_t free_until, now; uint16_t running, clients; };
struct client { uint32_t abilities, requests; uint64_t at; uint8_t unused[112]; };
struct direct { uint32_t able, on, calls, announced; uint64_t free_until, unused[5]; };
struct time_message { uint32_t op, seq; uint64_t time; };
/* As in poll.h, whose declaration of poll makes compilers warn of its definition. */
struct pollfd { int fd; short events, revents; };
struct card_message { uint32_t request, flags, size; uint8_t payload[8]; } __attribute__((packed));

static volatile struct times *times;
static volatile struct client *client;
static volatile struct direct *direct;
static int clock_fd = -1, card_fd = -1, interrupt_fd = -1;
/* The thread of the kernel. */
static pid_t process, thread;
/* The last pair of sockets, and the last file that was added for signals. */
static int pair[2] = {-1, -1}, added = -1;
static struct epoll_event added_event;
/* The RUN that was read when the kernel asked whether there was a message. */
static struct time_message run;
static int has_run;
/* The message that the kernel reads next from a socket, and its bytes that have been read. */
static struct card_message next;
static size_t next_read = sizeof next;
/* The interrupts that the kernel has to read, and whether it reads them now. */
static uint32_t calls;
static int handles;

static int is_on(void)
{
	return direct && direct->on;
}

/* Maps the memory that comes with the first answer of the clock. */
static void share(int fd, const struct msghdr *message)
{
	const struct time_message *first = message->msg_iov->iov_base;
	struct cmsghdr *control = CMSG_FIRSTHDR((struct msghdr *)message);
	struct stat found;
	int memory;

	if (first->op != ACK || !control || control->cmsg_type != SCM_RIGHTS || control->cmsg_len < CMSG_LEN(sizeof memory))
		return;
	memcpy(&memory, CMSG_DATA(control), sizeof memory);
	if (fstat(memory, &found) || found.st_size < HEADER)
		return;
	uint8_t *start = mmap(NULL, found.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);

	if (start == MAP_FAILED)
		return;
	size_t at = (((struct times *)start)->length + PAGE - 1) / PAGE * PAGE;
	size_t own = at + first->time * sizeof *direct;

	if (own + sizeof *direct > (size_t)found.st_size || ((struct direct *)(start + at))->able != VERSION)
		return;
	times = (struct times *)start;
	client = (struct client *)(start + HEADER) + first->time;
	direct = (struct direct *)(start + own);
	clock_fd = fd;
	process = getpid();
	thread = syscall(SYS_gettid);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t got = syscall(SYS_recvmsg, fd, message, flags);

	if (got == sizeof(struct time_message) && !times && message->msg_iovlen == 1)
		share(fd, message);
	return got;
}

int socketpair(int domain, int type, int protocol, int both[2])
{
	int failed = syscall(SYS_socketpair, domain, type, protocol, both);

	if (!failed)
		memcpy(pair, both, sizeof pair);
	return failed;
}

int epoll_ctl(int poller, int op, int fd, struct epoll_event *event)
{
	if (op == EPOLL_CTL_ADD && interrupt_fd < 0) {
		added = fd;
		added_event = *event;
	}
	return syscall(SYS_epoll_ctl, poller, op, fd, event);
}

/* The socket for interrupts is that whose other end the kernel passes. */
static void find_interrupts(int fd, const struct msghdr *message)
{
	struct cmsghdr *control = CMSG_FIRSTHDR((struct msghdr *)message);
	int passed;

	if (!direct || !control || control->cmsg_len < CMSG_LEN(sizeof passed))
		return;
	memcpy(&passed, CMSG_DATA(control), sizeof passed);
	if (passed != pair[1] || added != pair[0])
		return;
	card_fd = fd;
	interrupt_fd = pair[0];
	direct->able = 1;
}

static void prepare(uint32_t request, uint32_t flags, uint64_t payload)
{
	next = (struct card_message){request, flags, sizeof next.payload, {0}};
	memcpy(next.payload, &payload, sizeof payload);
	next_read = 0;
}

static ssize_t read_prepared(void *into, size_t length)
{
	size_t part = sizeof next - next_read < length ? sizeof next - next_read : length;

	memcpy(into, (uint8_t *)&next + next_read, part);
	next_read += part;
	return part;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	const struct iovec *part = message->msg_iov;

	if (message->msg_iovlen == 1 && part->iov_len >= sizeof next - sizeof next.payload) {
		const struct card_message *sent = part->iov_base;

		if (sent->request == SET_SLAVE_REQ_FD)
			find_interrupts(fd, message);
		else if (fd == card_fd && is_on() && sent->request == VRING_KICK) {
			direct->announced = 1;
			if (times->free_until > times->now + 1)
				times->free_until = times->now + 1;
			if (sent->flags & NEED_REPLY)
				prepare(VRING_KICK, OF_VERSION | IS_REPLY, 0);
			return part->iov_len;
		}
	}
	return syscall(SYS_sendmsg, fd, message, flags);
}

int poll(struct pollfd *fds, unsigned long count, int timeout)
{
	if (is_on() && count == 2 && fds[0].fd == card_fd && next_read < sizeof next) {
		fds[0].revents = POLLIN;
		fds[1].revents = 0;
		return 1;
	}
	if (is_on() && count == 1 && fds[0].fd == clock_fd) {
		if (!has_run) {
			ssize_t got = syscall(SYS_recvfrom, clock_fd, &run, sizeof run, MSG_WAITALL, NULL, NULL);

			if (got < 0)
				return -1;
			/* At the end of the connection the kernel reads that itself. */
			has_run = got == sizeof run;
		}
		fds[0].revents = POLLIN;
		return 1;
	}
	return syscall(SYS_poll, fds, count, timeout);
}

/* Lets the kernel handle the interrupts of a RUN. Returns whether it runs now: not if it has not yet
 * been able to handle the last one, and waits for a later time. */
static int interrupt(void)
{
	int before = errno;

	calls = direct->calls;
	direct->calls = 0;
	handles = 1;
	syscall(SYS_tgkill, process, thread, SIGIO);
	handles = 0;
	errno = before;
	return (client->requests & 1) && client->at <= times->now;
}

static ssize_t read_clock(struct time_message *into)
{
	for (;;) {
		ssize_t got = sizeof run;

		if (has_run)
			*into = run;
		else
			got = syscall(SYS_recvfrom, clock_fd, into, sizeof run, MSG_WAITALL, NULL, NULL);
		has_run = 0;
		if (got != sizeof run || into->op != RUN)
			return got;
		if (!direct->calls || interrupt()) {
			/* An interrupt is an event of now, to which the kernel has lowered this. */
			times->free_until = direct->free_until;
			return got;
		}
		const struct time_message wait = {WAIT, 0, -1};

		if (syscall(SYS_write, clock_fd, &wait, sizeof wait) != sizeof wait)
			return -1;
	}
}

ssize_t read(int fd, void *into, size_t length)
{
	if (!is_on())
		return syscall(SYS_read, fd, into, length);
	if (fd == clock_fd && length == sizeof run)
		return read_clock(into);
	if (fd == card_fd && next_read < sizeof next)
		return read_prepared(into, length);
	if (fd != interrupt_fd)
		return syscall(SYS_read, fd, into, length);
	if (next_read == sizeof next && calls) {
		int queue = __builtin_ctz(calls);

		calls &= calls - 1;
		prepare(VRING_CALL, OF_VERSION, queue);
	}
	if (next_read < sizeof next)
		return read_prepared(into, length);
	errno = EAGAIN;
	return -1;
}

int epoll_wait(int poller, struct epoll_event *events, int most, int timeout)
{
	if (calls) {
		events[0] = added_event;
		events[0].events = EPOLLIN;
		return 1;
	}
	return handles ? 0 : syscall(SYS_epoll_wait, poller, events, most, timeout);
}
