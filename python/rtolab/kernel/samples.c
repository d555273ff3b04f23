/* The state of senders after each of their packets, and the kernel's counters. */
#define _GNU_SOURCE
#include "agent.h"
#include "flows.h"
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { COUNTERS = 5, SAMPLES = 8, RING = 256, FRAME = 256, BLOCK = 4096 };

struct sample {
	uint64_t at;
	uint32_t flow, counts[COUNTERS];
	uint8_t info[INFO];
} __attribute__((packed));

static const char *const NAMES[COUNTERS] = {
	"TCPSpuriousRTOs", "TCPDSACKUndo", "TCPLossUndo", "TCPFullUndo", "TCPPartialUndo"};
static struct sample samples[SAMPLES];
static int watch = -1, netstat = -1, collected, columns[COUNTERS];
static uint8_t *ring;

void flush_samples(void)
{
	if (collected)
		say(SAMPLE, 0, 0, 0, samples, collected * sizeof *samples);
	collected = 0;
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

	word = strtok_r(line + 1, " ", &rest);
	for (; word && *word != '\n'; word = strtok_r(NULL, " ", &rest), column++)
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
	if (recovered && (now.tcpi_ca_state != before.tcpi_ca_state ||
			  now.tcpi_retransmits != before.tcpi_retransmits ||
			  now.tcpi_snd_ssthresh > before.tcpi_snd_ssthresh ||
			  now.tcpi_snd_cwnd > before.tcpi_snd_cwnd + 3))
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

void watch_packets(void)
{
	/* IPv4 packets, and of these the headers. */
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 96), BPF_STMT(BPF_RET | BPF_K, 0)};
	struct sock_fprog program = {.len = 4, .filter = code};
	struct tpacket_req request = {.tp_block_size = BLOCK, .tp_block_nr = RING * FRAME / BLOCK,
				      .tp_frame_size = FRAME, .tp_frame_nr = RING};
	int version = TPACKET_V2;

	if (watch >= 0)
		return;
	watch = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	struct sockaddr_ll where = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
				    .sll_ifindex = if_nametoindex("eth0")};

	if (setsockopt(watch, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) ||
	    setsockopt(watch, SOL_PACKET, PACKET_VERSION, &version, sizeof version) ||
	    setsockopt(watch, SOL_PACKET, PACKET_RX_RING, &request, sizeof request))
		die("cannot watch packets");
	ring = mmap(NULL, FRAME * RING, PROT_READ | PROT_WRITE, MAP_SHARED, watch, 0);
	if (ring == MAP_FAILED || bind(watch, (void *)&where, sizeof where))
		die("cannot watch packets");
	watch_file(watch, EPOLLIN, PACKETS);
}

void on_packets(void)
{
	static unsigned next;
	uint64_t at = 0;
	int flow = -1;

	for (;;) {
		struct tpacket2_hdr *head = (void *)(ring + FRAME * (next % RING));

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
