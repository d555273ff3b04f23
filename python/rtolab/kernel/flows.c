/* The sockets of a scenario's flows: what they write and read, and their state. */
#define _GNU_SOURCE
#include "flows.h"
#include "agent.h"
#include <errno.h>
#include <linux/tcp.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DRAIN_STACK = 64 << 10, DRAIN_PART = 1 << 30, PARTS = 256 };
enum { OPENED = 1, ENDED = 2, BROKEN = 4 };

struct state {
	uint8_t flags, pad[7];
	uint64_t read, written;
	uint8_t info[INFO];
	char congestion[16];
} __attribute__((packed));

struct end ends[FLOWS][2];
/* A thread that has read a connection to its end adds one. */
static int drained = -1;
static char zeros[65536];

static size_t number_of(const struct end *end)
{
	return end - &ends[0][0];
}

uint64_t acked(const struct end *end)
{
	uint64_t bytes;

	memcpy(&bytes, end->info + offsetof(struct tcp_info, tcpi_bytes_acked), sizeof bytes);
	return bytes;
}

/* The number of bytes that the thread of a connection has read so far. */
static uint64_t drained_bytes(const struct end *end)
{
	struct tcp_info info = {0};
	socklen_t length = sizeof info;
	int unread = 0;

	if (getsockopt(end->fd, IPPROTO_TCP, TCP_INFO, &info, &length) ||
	    ioctl(end->fd, FIONREAD, &unread))
		return 0;
	return info.tcpi_bytes_received - unread;
}

void report(struct end *end)
{
	struct state state = {.read = end->read, .written = end->written};
	socklen_t length = sizeof state.congestion;

	state.flags = (end->opened ? OPENED : 0) | (end->ended ? ENDED : 0) | (end->broken ? BROKEN : 0);
	if (!end->udp && end->fd >= 0)
		getsockopt(end->fd, IPPROTO_TCP, TCP_CONGESTION, state.congestion, &length);
	memcpy(state.info, end->info, INFO);
	if (end->drains && !end->ended && !end->broken)
		state.read = drained_bytes(end);
	end->told_read = end->read;
	end->told_acked = acked(end);
	say(STATE, number_of(end) / 2, number_of(end) % 2, 0, &state, sizeof state);
}

void look(struct end *end)
{
	socklen_t length = INFO;

	if (!end->udp && end->fd >= 0)
		getsockopt(end->fd, IPPROTO_TCP, TCP_INFO, end->info, &length);
}

/* Writes many buffers of zeros in one call, as the simulator's application writes all at once: where
 * a call ends decides which segments have PSH. A last segment that is not full waits for the FIN, as
 * it leaves with it in the simulator. */
static void write_out(struct end *end)
{
	struct iovec parts[PARTS];
	struct msghdr message = {.msg_iov = parts};

	while (end->opened && !end->broken && end->unwritten) {
		uint64_t rest = end->unwritten;

		for (message.msg_iovlen = 0; rest && message.msg_iovlen < PARTS; message.msg_iovlen++) {
			size_t part = rest < sizeof zeros ? rest : sizeof zeros;

			parts[message.msg_iovlen] = (struct iovec){zeros, part};
			rest -= part;
		}
		int more = end->closing && !rest ? MSG_MORE : 0;
		ssize_t sent = sendmsg(end->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT | more);

		if (sent < 0) {
			if (errno != EAGAIN && errno != EINTR)
				end->broken = 1;
			break;
		}
		end->unwritten -= sent;
		end->written += sent;
	}
	if (end->opened && !end->broken && end->closing && !end->finished && !end->unwritten) {
		shutdown(end->fd, SHUT_WR);
		end->finished = 1;
	}
}

static void read_in(struct end *end, int until_empty)
{
	while (!end->ended && !end->broken) {
		ssize_t got = recv(end->fd, zeros, 1 << 20, MSG_TRUNC | MSG_DONTWAIT);

		if (got < 0) {
			if (errno != EAGAIN && errno != EINTR)
				end->broken = 1;
			return;
		}
		if (got == 0 && !end->udp)
			end->ended = 1;
		end->read += got;
		if (!until_empty && !end->udp)
			return;
	}
}

/* Reads a connection to its end in one call, as far as its length allows. The kernel reads each
 * segment when it arrives, as for a program that reads at once, but without a switch to user mode,
 * which costs a guest more than all else that it does for the segment. */
static void *drain(void *connection)
{
	struct end *end = connection;
	uint64_t one = 1;

	while (!end->ended && !end->broken) {
		ssize_t got = recv(end->fd, zeros, DRAIN_PART, MSG_TRUNC | MSG_WAITALL);

		if (got > 0)
			end->read += got;
		else if (got == 0)
			end->ended = 1;
		else if (errno != EINTR)
			end->broken = 1;
	}
	if (write(drained, &one, sizeof one) < 0)
		die("cannot report an end");
	return NULL;
}

/* Lets a thread read the connection, if nobody wants to know how far it is. */
static void start_drain(struct end *end)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (end->reports)
		return;
	end->drains = 1;
	if (pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, DRAIN_STACK) ||
	    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) ||
	    pthread_create(&thread, &attributes, drain, end))
		die("cannot start a thread");
}

static void accept_connection(struct end *end)
{
	end->fd = accept4(end->listener, NULL, NULL, SOCK_CLOEXEC);
	if (end->fd < 0)
		return;
	close(end->listener);
	end->listener = -1;
	end->opened = 1;
	start_drain(end);
	uint32_t events = (end->drains ? 0 : EPOLLIN) | EPOLLOUT | EPOLLRDHUP | EPOLLET;

	watch_file(end->fd, events, number_of(end));
}

void on_socket(uint64_t number, uint32_t events)
{
	struct end *end = &ends[0][0] + number;

	if (!end->udp && end->fd < 0) {
		accept_connection(end);
		if (end->fd < 0)
			return;
		events = EPOLLRDHUP;
	}
	if (!end->opened && !end->udp) {
		if (events & (EPOLLERR | EPOLLHUP))
			end->broken = 1;
		else if (events & EPOLLOUT)
			end->opened = 1;
	}
	if (end->opened && !end->drains)
		read_in(end, events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
	write_out(end);
	int now = 1 | end->opened << 1 | end->ended << 2 | end->broken << 3;

	if (end->finished || now != end->told)
		look(end);
	now |= (end->finished ? end->info[0] & 15 : 0) << 4;
	if (now != end->told || (end->reports && end->read != end->told_read))
		report(end);
	end->told = now;
}

void on_drained(void)
{
	uint64_t number;

	if (read(drained, &number, sizeof number) < 0)
		return;
	for (int flow = 0; flow < FLOWS; flow++)
		if (ends[flow][1].drains && (ends[flow][1].ended || ends[flow][1].broken))
			on_socket(number_of(&ends[flow][1]), 0);
}

int open_end(struct end *end, const struct open *open)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_addr.s_addr = open->at, .sin_port = open->port};
	int kind = open->udp ? SOCK_DGRAM : SOCK_STREAM;
	int fd = socket(AF_INET, kind | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int receives = number_of(end) % 2;

	memset(end, 0, sizeof *end);
	end->used = 1;
	end->udp = open->udp;
	end->reports = open->reports;
	end->fd = end->listener = -1;
	end->to = at;
	end->to.sin_addr.s_addr = open->to;
	end->to.sin_port = open->to_port;
	if (fd < 0 || bind(fd, (void *)&at, sizeof at))
		return errno;
	if (open->udp) {
		end->fd = fd;
		end->opened = 1;
	} else if (receives) {
		if (listen(fd, 1))
			return errno;
		end->listener = fd;
	} else {
		end->fd = fd;
	}
	if (receives)
		watch_file(fd, EPOLLIN | EPOLLET, number_of(end));
	return 0;
}

void begin_flows(void)
{
	drained = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	watch_file(drained, EPOLLIN, DRAINED);
}

void connect_end(struct end *end)
{
	if (connect(end->fd, (void *)&end->to, sizeof end->to) && errno != EINPROGRESS)
		end->broken = 1;
	if (!end->udp)
		watch_file(end->fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, number_of(end));
}

void write_more(struct end *end, uint64_t bytes, int closing)
{
	end->closing = closing;
	end->unwritten = bytes > UINT64_MAX - end->unwritten ? UINT64_MAX : end->unwritten + bytes;
	write_out(end);
}

void finish(struct end *end)
{
	end->closing = 1;
	write_out(end);
}

void send_datagram(const struct end *end, uint32_t bytes)
{
	size_t length = bytes < sizeof zeros ? bytes : sizeof zeros;

	sendto(end->fd, zeros, length, MSG_DONTWAIT, (void *)&end->to, sizeof end->to);
}
