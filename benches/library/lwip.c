// lwIP on the work of src/main.rs: two ends exchange segments in memory. Its stack is one for both
// ends, so it has two interfaces whose packets wait in a queue. Prints the same line of JSON.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <malloc.h>

#include <lwip/init.h>
#include <lwip/ip.h>
#include <lwip/netif.h>
#include <lwip/tcp.h>
#include <lwip/tcpip.h>

enum { MSS = 1000, MTU = 40 + MSS, BUFFER = 65535, QUEUE = 4096, PAIRS = 200 };

static struct netif interfaces[2];

static struct {
    struct pbuf *packet;
    struct netif *to;
} queue[QUEUE];
static unsigned head, tail;

static size_t received, segments;
static struct tcp_pcb *accepted;
static char block[BUFFER];

static void fail(const char *what) {
    fprintf(stderr, "lwip: %s\n", what);
    exit(1);
}

// The packet belongs to TCP, which may send it again, so a copy is queued.
static err_t output(struct netif *from, struct pbuf *packet, const ip4_addr_t *to) {
    (void)to;
    if (tail - head == QUEUE) fail("the queue is full");
    if (packet->tot_len > 40 + 20) segments++;
    queue[tail % QUEUE].packet = pbuf_clone(PBUF_RAW, PBUF_RAM, packet);
    queue[tail++ % QUEUE].to = &interfaces[from == &interfaces[0]];
    return ERR_OK;
}

static err_t set_up(struct netif *interface) {
    interface->mtu = MTU;
    interface->output = output;
    interface->flags |= NETIF_FLAG_LINK_UP;
    return ERR_OK;
}

static void exchange(void) {
    while (head != tail) {
        unsigned at = head++ % QUEUE;
        ip4_input(queue[at].packet, queue[at].to);
    }
}

static err_t on_data(void *arg, struct tcp_pcb *pcb, struct pbuf *data, err_t error) {
    (void)arg, (void)error;
    if (!data) return ERR_OK;
    if (*(char *)data->payload != 7) fail("other bytes");
    received += data->tot_len;
    tcp_recved(pcb, data->tot_len);
    pbuf_free(data);
    return ERR_OK;
}

static err_t on_accept(void *arg, struct tcp_pcb *pcb, err_t error) {
    (void)arg, (void)error;
    accepted = pcb;
    tcp_recv(pcb, on_data);
    return ERR_OK;
}

static err_t on_connected(void *arg, struct tcp_pcb *pcb, err_t error) {
    (void)arg, (void)pcb;
    return error;
}

static struct tcp_pcb *connected(void) {
    ip_addr_t server;
    struct tcp_pcb *pcb = tcp_new();
    ip_addr_copy(server, *netif_ip_addr4(&interfaces[1]));
    tcp_bind_netif(pcb, &interfaces[0]);
    tcp_bind(pcb, netif_ip_addr4(&interfaces[0]), 0);
    accepted = NULL;
    if (tcp_connect(pcb, &server, 80, on_connected) != ERR_OK) fail("no route");
    exchange();
    if (!accepted) fail("no handshake");
    return pcb;
}

// Time stands still, so no timer runs: a delayed ACK is sent at once.
static size_t transfer(struct tcp_pcb *pcb, size_t bytes) {
    size_t before = segments, end = received + bytes;
    while (received < end) {
        size_t start = received, room = tcp_sndbuf(pcb);
        if (room && tcp_write(pcb, block, room, TCP_WRITE_FLAG_COPY) != ERR_OK) fail("no memory");
        tcp_output(pcb);
        exchange();
        if (received == start) {
            tcp_set_flags(accepted, TF_ACK_NOW);
            tcp_output(accepted);
            exchange();
        }
    }
    return segments - before;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

int main(void) {
    ip4_addr_t address, mask;
    memset(block, 7, sizeof block);
    tcpip_init(NULL, NULL);
    LOCK_TCPIP_CORE();
    IP4_ADDR(&mask, 255, 255, 255, 0);
    for (int host = 0; host < 2; host++) {
        IP4_ADDR(&address, 10, 0, host, 1);
        netif_add(&interfaces[host], &address, &mask, &address, NULL, set_up, ip4_input);
        netif_set_up(&interfaces[host]);
    }
    struct tcp_pcb *listener = tcp_new();
    tcp_bind_netif(listener, &interfaces[1]);
    tcp_bind(listener, netif_ip_addr4(&interfaces[1]), 80);
    listener = tcp_listen(listener);
    tcp_accept(listener, on_accept);

    struct tcp_pcb *pcb = connected();
    transfer(pcb, 10 * 1000 * 1000);
    double fastest = 1e9;
    size_t count = 0;
    for (int round = 0; round < 9; round++) {
        double start = seconds();
        count = transfer(pcb, 100 * 1000 * 1000);
        double each = (seconds() - start) / count;
        if (each < fastest) fastest = each;
    }
    size_t before = mallinfo2().uordblks;
    for (int pair = 0; pair < PAIRS; pair++) connected();
    size_t state = (mallinfo2().uordblks - before) / (2 * PAIRS);
    printf("{\"library\": \"lwIP\", \"segments\": %zu, \"ns_a_segment\": %.1f, "
           "\"state_bytes\": %zu}\n", count, fastest * 1e9, state);
    fflush(stdout);
    _exit(0);
}
