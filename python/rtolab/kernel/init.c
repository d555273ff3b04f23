/* The first process of a guest kernel: it does with its sockets what the controller asks, and reports
 * their state; program.c runs programs. Requests and reports are Ethernet frames of the type 0x88b5 on eth0, which the
 * controller takes out before the links. crates/live/src/linux/guest/agent.rs is the other side. */
#define _GNU_SOURCE
#include "agent.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { TYPE = 0x88b5, FLOWS = 1000, INFO = 128, COUNTERS = 5, SAMPLES = 8, RING = 256 };
/* The numbers of files besides sockets; those of programs follow. */
enum { REQUESTS = FLOWS * 2, PACKETS, DRAINED, OF_PROGRAMS };
enum { DRAIN_STACK = 64 << 10, DRAIN_PART = 1 << 30 };
enum { WRITE_FILE = 1, READ_FILE, NETLINK, OPEN, CONNECT, WRITE, FINISH, DATAGRAM, REPORT, SHOW_FILES, WORDS, START, MAKE_TUN };
enum { HELLO = 64, REPLY, STATE, SAMPLE };
enum { OPENED = 1, ENDED = 2, BROKEN = 4 };

/* One end of a flow. */
struct end {
	int fd;             /* the connection, or the datagram socket */
	int listener;       /* at a receiver that has not accepted */
	uint8_t used, udp, reports, opened, ended, broken, closing, finished, told;
	uint8_t drains;     /* a thread reads it */
	uint64_t unwritten, written, read, told_read, told_acked;
	struct sockaddr_in to;
	uint8_t info[INFO];
};

struct header { uint8_t dst[6], src[6]; uint16_t type; uint8_t op, place; uint16_t flow; uint32_t seq; } __attribute__((packed));
struct open { uint32_t at, to; uint16_t port, to_port; uint8_t udp, reports; } __attribute__((packed));
struct state { uint8_t flags, pad[7]; uint64_t read, written; uint8_t info[INFO]; char congestion[16]; } __attribute__((packed));
struct sample { uint64_t at; uint32_t flow, counts[COUNTERS]; uint8_t info[INFO]; } __attribute__((packed));

static const char *const NAMES[COUNTERS] = {"TCPSpuriousRTOs", "TCPDSACKUndo", "TCPLossUndo", "TCPFullUndo", "TCPPartialUndo"};
static struct end ends[FLOWS][2];
static struct sample samples[SAMPLES];
static int control, watch = -1, poller, netstat = -1, collected, columns[COUNTERS], drained = -1;
static uint8_t *ring;
static char zeros[65536];

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

static void flush_samples(void)
{
	if (collected)
		say(SAMPLE, 0, 0, 0, samples, collected * sizeof *samples);
	collected = 0;
}

static uint64_t acked(const struct end *end)
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

	if (getsockopt(end->fd, IPPROTO_TCP, TCP_INFO, &info, &length) || ioctl(end->fd, FIONREAD, &unread))
		return 0;
	return info.tcpi_bytes_received - unread;
}

static void report(struct end *end)
{
	size_t number = (end - &ends[0][0]) / 2;
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
	say(STATE, number, (end - &ends[0][0]) % 2, 0, &state, sizeof state);
}

static void look(struct end *end)
{
	socklen_t length = INFO;

	if (!end->udp && end->fd >= 0)
		getsockopt(end->fd, IPPROTO_TCP, TCP_INFO, end->info, &length);
}

/* The kernel's counters of undone episodes. */
static void count(uint32_t counts[COUNTERS])
{
	char text[16384], *line, *word, *rest;
	ssize_t length;

	if (netstat < 0)
		netstat = open("/proc/net/netstat", O_RDONLY);
	length = pread(netstat, text, sizeof text - 1, 0);
	if (length <= 0)
		return;
	text[length] = 0;
	line = strchr(text, '\n');
	if (!line)
		return;
	if (!columns[0]) {
		int column = 0;

		*line = 0;
		for (word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest), column++)
			for (int name = 0; name < COUNTERS; name++)
				if (!strcmp(word, NAMES[name]))
					columns[name] = column;
	}
	int column = 0;

	for (word = strtok_r(line + 1, " ", &rest); word && *word != '\n'; word = strtok_r(NULL, " ", &rest), column++)
		for (int name = 0; name < COUNTERS; name++)
			if (column && column == columns[name])
				counts[name] = strtoul(word, NULL, 10);
}

/* Keeps a sender's state, as of this time, if it has changed. */
static void sample(struct end *end, uint64_t at)
{
	static uint32_t counts[COUNTERS];
	static int recovered;
	struct tcp_info before, now;

	memcpy(&before, end->info, INFO);
	look(end);
	memcpy(&now, end->info, INFO);
	if (!memcmp(&before, &now, INFO))
		return;
	recovered |= now.tcpi_ca_state >= 3;
	if (recovered && (now.tcpi_ca_state != before.tcpi_ca_state || now.tcpi_retransmits != before.tcpi_retransmits ||
			  now.tcpi_snd_ssthresh > before.tcpi_snd_ssthresh || now.tcpi_snd_cwnd > before.tcpi_snd_cwnd + 3))
		count(counts);
	struct sample *one = &samples[collected++];

	one->at = at;
	one->flow = (end - &ends[0][0]) / 2;
	memcpy(one->counts, counts, sizeof counts);
	memcpy(one->info, end->info, INFO);
	if (collected == SAMPLES)
		flush_samples();
	if (end->reports && acked(end) != end->told_acked)
		report(end);
}

static void add(int fd, uint32_t events, uint64_t data)
{
	struct epoll_event event = {.events = events, .data.u64 = data};

	if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event))
		die("epoll");
}

void watch_program(int fd, int number)
{
	add(fd, EPOLLIN, OF_PROGRAMS + number);
}

/* A last segment that is not full waits for the FIN, as it leaves with it in the simulator. */
static void write_out(struct end *end)
{
	while (end->opened && !end->broken && end->unwritten) {
		size_t part = end->unwritten < sizeof zeros ? end->unwritten : sizeof zeros;
		int more = end->closing && part == end->unwritten ? MSG_MORE : 0;
		ssize_t sent = send(end->fd, zeros, part, MSG_NOSIGNAL | MSG_DONTWAIT | more);

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
	add(end->fd, (end->drains ? 0 : EPOLLIN) | EPOLLOUT | EPOLLRDHUP | EPOLLET, end - &ends[0][0]);
}

/* Something happened on a socket. */
static void on_socket(struct end *end, uint32_t events)
{
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

/* Threads have read connections to their ends. */
static void on_drained(void)
{
	uint64_t number;

	if (read(drained, &number, sizeof number) < 0)
		return;
	for (int flow = 0; flow < FLOWS; flow++)
		if (ends[flow][1].drains && (ends[flow][1].ended || ends[flow][1].broken))
			on_socket(&ends[flow][1], 0);
}

static int open_end(struct end *end, const struct open *open)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = open->at, .sin_port = open->port};
	int fd = socket(AF_INET, (open->udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int receives = (end - &ends[0][0]) % 2;

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
		add(fd, EPOLLIN | EPOLLET, end - &ends[0][0]);
	return 0;
}

/* Watches the packets of this host's senders. */
static void watch_packets(void)
{
	/* IPv4 packets, and of these the headers. */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 96), BPF_STMT(BPF_RET | BPF_K, 0)};
	struct sock_fprog program = {.len = 4, .filter = code};
	struct tpacket_req request = {.tp_block_size = 4096, .tp_block_nr = RING / 16, .tp_frame_size = 256, .tp_frame_nr = RING};
	int version = TPACKET_V2;

	if (watch >= 0)
		return;
	watch = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	struct sockaddr_ll where = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = if_nametoindex("eth0")};

	if (setsockopt(watch, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) ||
	    setsockopt(watch, SOL_PACKET, PACKET_VERSION, &version, sizeof version) ||
	    setsockopt(watch, SOL_PACKET, PACKET_RX_RING, &request, sizeof request))
		die("cannot watch packets");
	ring = mmap(NULL, 256 * RING, PROT_READ | PROT_WRITE, MAP_SHARED, watch, 0);
	if (ring == MAP_FAILED || bind(watch, (void *)&where, sizeof where))
		die("cannot watch packets");
	add(watch, EPOLLIN, PACKETS);
}

static void on_packets(void)
{
	static unsigned next;
	uint64_t at = 0;
	int flow = -1;

	for (;;) {
		struct tpacket2_hdr *head = (void *)(ring + 256 * (next % RING));

		if (!(head->tp_status & TP_STATUS_USER))
			break;
		const uint8_t *ip = (uint8_t *)head + head->tp_net;
		const uint8_t *ports = ip + 4 * (ip[0] & 15);
		uint64_t when = head->tp_sec * 1000000000ull + head->tp_nsec;
		int from = ports[0] << 8 | ports[1], to = ports[2] << 8 | ports[3], found = -1;

		if (ip[9] == IPPROTO_TCP && from - 30000 == to - 10000)
			found = from - 30000;
		else if (ip[9] == IPPROTO_TCP && to - 30000 == from - 10000)
			found = to - 30000;
		if (flow >= 0 && found != flow)
			sample(&ends[flow][0], at);
		flow = found >= 0 && found < FLOWS && ends[found][0].used ? found : -1;
		at = when;
		head->tp_status = TP_STATUS_KERNEL;
		next++;
	}
	if (flow >= 0)
		sample(&ends[flow][0], at);
}

static int netlink(const void *message, size_t length)
{
	struct { struct nlmsghdr head; struct nlmsgerr error; char rest[1024]; } answer;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int refused = send(fd, message, length, 0) < 0 || recv(fd, &answer, sizeof answer, 0) < 0 ? errno : -answer.error.error;

	close(fd);
	return refused;
}

static int write_file(char *path, size_t length)
{
	size_t name = strnlen(path, length) + 1;
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int refused = fd < 0 || write(fd, path + name, length - name) < 0 ? errno : 0;

	close(fd);
	return refused;
}

static void on_request(void)
{
	uint8_t frame[2048], answer[1400];

	for (;;) {
		ssize_t got = recv(control, frame, sizeof frame - 1, MSG_DONTWAIT);
		struct header *head = (void *)frame;

		if (got < (ssize_t)sizeof *head)
			return;
		frame[got] = 0;
		void *body = head + 1;
		size_t length = got - sizeof *head;
		struct end *end = &ends[head->flow % FLOWS][head->place & 1];
		int32_t result = 0;

		memset(answer, 0, 4);
		switch (head->op) {
		case WRITE_FILE:
			result = write_file(body, length);
			break;
		case READ_FILE: {
			uint32_t offset;

			memcpy(&offset, body, 4);
			int fd = open((char *)body + 4, O_RDONLY | O_CLOEXEC);
			ssize_t read = fd < 0 ? -1 : pread(fd, answer + 4, sizeof answer - 4, offset);

			result = read < 0 ? errno : 0;
			close(fd);
			memcpy(answer, &result, 4);
			say(REPLY, 0, 0, head->seq, answer, 4 + (read < 0 ? 0 : read));
			continue;
		}
		case NETLINK:
			result = netlink(body, length);
			break;
		case OPEN: {
			struct open open;

			memcpy(&open, body, sizeof open);
			result = open_end(end, &open);
			if (!result && !(head->place & 1) && !open.udp)
				watch_packets();
			break;
		}
		case CONNECT:
			if (connect(end->fd, (void *)&end->to, sizeof end->to) && errno != EINPROGRESS)
				end->broken = 1;
			if (!end->udp)
				add(end->fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, end - &ends[0][0]);
			continue;
		case WRITE: {
			uint64_t more;

			memcpy(&more, body, 8);
			end->unwritten = more > UINT64_MAX - end->unwritten ? UINT64_MAX : end->unwritten + more;
			end->closing = ((const uint8_t *)body)[8];
			write_out(end);
			continue;
		}
		case FINISH:
			end->closing = 1;
			write_out(end);
			continue;
		case DATAGRAM: {
			uint32_t bytes;

			memcpy(&bytes, body, 4);
			sendto(end->fd, zeros, bytes < sizeof zeros ? bytes : sizeof zeros, MSG_DONTWAIT, (void *)&end->to, sizeof end->to);
			continue;
		}
		case SHOW_FILES:
			result = show_files();
			break;
		case WORDS:
			result = keep_words(body, length);
			break;
		case START:
			result = start_program(head->flow, body, length);
			break;
		case MAKE_TUN:
			result = make_tun();
			break;
		case REPORT:
			flush_samples();
			look(end);
			report(end);
			break;
		default:
			result = ENOSYS;
		}
		memcpy(answer, &result, 4);
		say(REPLY, 0, 0, head->seq, answer, 4);
	}
}

int main(void)
{
	struct sockaddr_ll where = {.sll_family = AF_PACKET, .sll_protocol = htons(TYPE)};
	struct ifreq device = {.ifr_name = "eth0"};
	struct timespec now;

	if (mount("proc", "/proc", "proc", 0, NULL))
		die("cannot mount /proc");
	poller = epoll_create1(EPOLL_CLOEXEC);
	control = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (control < 0 || ioctl(control, SIOCGIFFLAGS, &device))
		die("no eth0");
	device.ifr_flags |= IFF_UP | IFF_NOARP;
	if (ioctl(control, SIOCSIFFLAGS, &device))
		die("cannot set eth0 up");
	where.sll_ifindex = if_nametoindex("eth0");
	if (bind(control, (void *)&where, sizeof where))
		die("cannot bind");
	add(control, EPOLLIN, REQUESTS);
	drained = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	add(drained, EPOLLIN, DRAINED);
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t at = now.tv_sec * 1000000000ull + now.tv_nsec;

	say(HELLO, 0, 0, 0, &at, sizeof at);
	for (;;) {
		struct epoll_event events[64];
		int happened = epoll_wait(poller, events, 64, -1);

		for (int i = 0; i < happened; i++) {
			uint64_t which = events[i].data.u64;

			if (which == REQUESTS)
				on_request();
			else if (which == PACKETS)
				on_packets();
			else if (which == DRAINED)
				on_drained();
			else if (which >= OF_PROGRAMS)
				on_program(which - OF_PROGRAMS);
			else
				on_socket(&ends[0][0] + which, events[i].events);
		}
	}
}
