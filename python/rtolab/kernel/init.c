/* The first process of a guest kernel. It does what the controller asks, and reports: flows.c has
 * the sockets of flows, samples.c their states, and program.c runs programs. Requests and reports
 * are Ethernet frames of the type 0x88b5 on eth0, which the controller takes out before the links.
 * crates/live/src/linux/guest/agent.rs is the other side. */
#define _GNU_SOURCE
#include "agent.h"
#include "flows.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { TYPE = 0x88b5, FRAME = 2048, ANSWER = 1400, EVENTS = 64 };
/* The kinds of requests. */
enum {
	WRITE_FILE = 1, READ_FILE, NETLINK, OPEN, CONNECT, WRITE, FINISH, DATAGRAM, REPORT,
	SHOW_FILES, WORDS, START, MAKE_TUN
};

struct header {
	uint8_t dst[6], src[6];
	uint16_t type;
	uint8_t op, place;
	uint16_t flow;
	uint32_t seq;
} __attribute__((packed));

/* An answer: an error or 0, and bytes. */
struct answer {
	int32_t error;
	uint8_t bytes[ANSWER];
};

_Static_assert(REQUESTS == 2 * FLOWS, "the numbers of sockets are less");

static int control, poller;

void die(const char *what)
{
	fprintf(stderr, "init: %s: %s\n", what, strerror(errno));
	sync();
	reboot(RB_POWER_OFF);
}

void say(uint8_t op, uint16_t flow, uint8_t place, uint32_t seq, const void *body, size_t length)
{
	uint8_t frame[1514] = {0};
	struct header *head = (void *)frame;

	head->type = htons(TYPE);
	head->op = op;
	head->place = place;
	head->flow = flow;
	head->seq = seq;
	memcpy(head + 1, body, length);
	while (send(control, frame, sizeof *head + length, 0) < 0)
		if (errno != EINTR && errno != ENOBUFS && errno != EAGAIN)
			die("cannot report");
}

void watch_file(int fd, uint32_t events, uint64_t number)
{
	struct epoll_event event = {.events = events, .data.u64 = number};

	if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event))
		die("epoll");
}

void watch_program(int fd, int number)
{
	watch_file(fd, EPOLLIN, OF_PROGRAMS + number);
}

static int netlink(const void *message, size_t length)
{
	struct { struct nlmsghdr head; struct nlmsgerr error; char rest[1024]; } answer;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), refused;

	if (send(fd, message, length, 0) < 0 || recv(fd, &answer, sizeof answer, 0) < 0)
		refused = errno;
	else
		refused = -answer.error.error;
	close(fd);
	return refused;
}

static int write_file(const char *path, size_t length)
{
	size_t name = strnlen(path, length) + 1;
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int refused = fd < 0 || write(fd, path + name, length - name) < 0 ? errno : 0;

	close(fd);
	return refused;
}

/* Reads a part of a file into the answer. Returns its length. */
static size_t read_file(const uint8_t *body, struct answer *answer)
{
	uint32_t offset;
	int fd = open((const char *)body + sizeof offset, O_RDONLY | O_CLOEXEC);

	memcpy(&offset, body, sizeof offset);
	ssize_t got = fd < 0 ? -1 : pread(fd, answer->bytes, sizeof answer->bytes, offset);

	answer->error = got < 0 ? errno : 0;
	close(fd);
	return got < 0 ? 0 : got;
}

static int open_flow(struct end *end, const uint8_t *body, int is_receiver)
{
	struct open open;

	memcpy(&open, body, sizeof open);
	int failed = open_end(end, &open);

	if (!failed && !is_receiver && !open.udp)
		watch_packets();
	return failed;
}

/* Does something with an end that nobody answers. Returns whether the request is of this kind. */
static int act(uint8_t op, struct end *end, const uint8_t *body)
{
	uint64_t more;
	uint32_t bytes;

	switch (op) {
	case CONNECT:
		connect_end(end);
		return 1;
	case WRITE:
		memcpy(&more, body, sizeof more);
		write_more(end, more, body[sizeof more]);
		return 1;
	case FINISH:
		finish(end);
		return 1;
	case DATAGRAM:
		memcpy(&bytes, body, sizeof bytes);
		send_datagram(end, bytes);
		return 1;
	default:
		return 0;
	}
}

/* Does what a request asks. Returns an error or 0. */
static int answer_to(const struct header *head, struct end *end, const uint8_t *body, size_t length)
{
	switch (head->op) {
	case WRITE_FILE:
		return write_file((const char *)body, length);
	case NETLINK:
		return netlink(body, length);
	case OPEN:
		return open_flow(end, body, head->place & 1);
	case REPORT:
		flush_samples();
		look(end);
		report(end);
		return 0;
	case SHOW_FILES:
		return show_files();
	case WORDS:
		return keep_words(body, length);
	case START:
		return start_program(head->flow, body, length);
	case MAKE_TUN:
		return make_tun();
	default:
		return ENOSYS;
	}
}

static void on_requests(void)
{
	uint8_t frame[FRAME];
	struct answer answer;

	for (;;) {
		ssize_t got = recv(control, frame, sizeof frame - 1, MSG_DONTWAIT);
		const struct header *head = (void *)frame;
		const uint8_t *body = frame + sizeof *head;

		if (got < (ssize_t)sizeof *head)
			return;
		frame[got] = 0;
		struct end *end = &ends[head->flow % FLOWS][head->place & 1];
		size_t further = 0;

		if (act(head->op, end, body))
			continue;
		if (head->op == READ_FILE)
			further = read_file(body, &answer);
		else
			answer.error = answer_to(head, end, body, got - sizeof *head);
		say(REPLY, 0, 0, head->seq, &answer, sizeof answer.error + further);
	}
}

/* Sets eth0 up, where requests arrive. */
static void listen_to_requests(void)
{
	struct sockaddr_ll where = {.sll_family = AF_PACKET, .sll_protocol = htons(TYPE)};
	struct ifreq device = {.ifr_name = "eth0"};

	control = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (control < 0 || ioctl(control, SIOCGIFFLAGS, &device))
		die("no eth0");
	device.ifr_flags |= IFF_UP | IFF_NOARP;
	if (ioctl(control, SIOCSIFFLAGS, &device))
		die("cannot set eth0 up");
	where.sll_ifindex = if_nametoindex("eth0");
	if (bind(control, (void *)&where, sizeof where))
		die("cannot bind");
	watch_file(control, EPOLLIN, REQUESTS);
}

static void on_event(const struct epoll_event *event)
{
	uint64_t number = event->data.u64;

	if (number == REQUESTS)
		on_requests();
	else if (number == PACKETS)
		on_packets();
	else if (number == DRAINED)
		on_drained();
	else if (number >= OF_PROGRAMS)
		on_program(number - OF_PROGRAMS);
	else
		on_socket(number, event->events);
}

int main(void)
{
	struct epoll_event events[EVENTS];
	struct timespec now;

	if (mount("proc", "/proc", "proc", 0, NULL))
		die("cannot mount /proc");
	poller = epoll_create1(EPOLL_CLOEXEC);
	listen_to_requests();
	begin_flows();
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t at = now.tv_sec * 1000000000ull + now.tv_nsec;

	say(HELLO, 0, 0, 0, &at, sizeof at);
	for (;;) {
		int happened = epoll_wait(poller, events, EVENTS, -1);

		for (int i = 0; i < happened; i++)
			on_event(&events[i]);
	}
}
