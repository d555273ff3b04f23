/* The ends of a scenario's flows in a guest, of which flows.c does the work. */
#ifndef FLOWS_H
#define FLOWS_H
#include <netinet/in.h>
#include <stdint.h>

/* A `struct tcp_info` as crates/live/src/linux/sys.rs reads it. */
enum { FLOWS = 1000, INFO = 128 };

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

/* The addresses of an end that is opened. */
struct open {
	uint32_t at, to;
	uint16_t port, to_port;
	uint8_t udp, reports;
} __attribute__((packed));

/* Each flow's sender and receiver. */
extern struct end ends[FLOWS][2];

/* Prepares for flows. */
void begin_flows(void);
/* Opens an end, which a receiver then listens at: an error or 0. */
int open_end(struct end *end, const struct open *open);
void connect_end(struct end *end);
/* Writes this many bytes more, as soon as the socket accepts them; then the end closes, or not. */
void write_more(struct end *end, uint64_t bytes, int closing);
/* Closes the end once all is written. */
void finish(struct end *end);
void send_datagram(const struct end *end, uint32_t bytes);
/* Reads the TCP_INFO of an end into its `info`. */
void look(struct end *end);
/* The acknowledged bytes of an end's `info`. */
uint64_t acked(const struct end *end);
/* Reports the state of an end. */
void report(struct end *end);
/* Something happened on the socket of this number. */
void on_socket(uint64_t number, uint32_t events);
/* Threads have read connections to their ends. */
void on_drained(void);

/* Samples each sender's state after its packets, from now on (samples.c). */
void watch_packets(void);
void on_packets(void);
/* Reports the samples so far. */
void flush_samples(void);
#endif
