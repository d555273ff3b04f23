/* A client and a server on lwIP, on the TUN device `stack0`, to be scored by `rtolab conform`:
 *
 *     transfer serve OWN-ADDRESS
 *     transfer get OWN-ADDRESS SERVER BYTES
 *
 * The client says how many bytes it wants, and exits with 0 once it has them.
 */
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lwip/ip.h"
#include "lwip/netif.h"
#include "lwip/tcp.h"
#include "lwip/tcpip.h"

enum { PORT = 9000, PACKET = 1500 };

static const char zeros[16384];
static const char *wanted;
static long left;
static int device;

static void check(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        _exit(1);
    }
}

static err_t send_packet(struct netif *netif, struct pbuf *packet, const ip4_addr_t *next_hop) {
    char bytes[PACKET];
    u16_t length = pbuf_copy_partial(packet, bytes, sizeof bytes, 0);
    (void)netif, (void)next_hop;
    return write(device, bytes, length) == length ? ERR_OK : ERR_IF;
}

static err_t set_up(struct netif *netif) {
    netif->name[0] = 's', netif->name[1] = 't';
    netif->mtu = PACKET;
    netif->output = send_packet;
    netif->flags |= NETIF_FLAG_LINK_UP;
    return ERR_OK;
}

static void open_device(void) {
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    device = open("/dev/net/tun", O_RDWR);
    strcpy(request.ifr_name, "stack0");
    check(device >= 0 && ioctl(device, TUNSETIFF, &request) == 0, "stack0 cannot be opened");
}

/* Writes as much of the answer as the send buffer takes. */
static err_t fill(void *unused, struct tcp_pcb *pcb, u16_t acknowledged) {
    (void)unused, (void)acknowledged;
    while (left > 0 && tcp_sndbuf(pcb) > 0) {
        u16_t some = LWIP_MIN(LWIP_MIN(left, tcp_sndbuf(pcb)), (long)sizeof zeros);
        if (tcp_write(pcb, zeros, some, 0) != ERR_OK)
            break;
        left -= some;
    }
    return tcp_output(pcb);
}

static err_t on_request(void *unused, struct tcp_pcb *pcb, struct pbuf *data, err_t error) {
    char line[32] = "";
    (void)unused, (void)error;
    if (data == NULL)
        return tcp_close(pcb);
    pbuf_copy_partial(data, line, sizeof line - 1, 0);
    tcp_recved(pcb, data->tot_len);
    pbuf_free(data);
    left = atol(line);
    tcp_sent(pcb, fill);
    return fill(NULL, pcb, 0);
}

static err_t on_accept(void *unused, struct tcp_pcb *pcb, err_t error) {
    (void)unused;
    if (error == ERR_OK)
        tcp_recv(pcb, on_request);
    return error;
}

static err_t on_answer(void *unused, struct tcp_pcb *pcb, struct pbuf *data, err_t error) {
    (void)unused, (void)error;
    check(data != NULL, "the server closed the connection");
    left -= data->tot_len;
    tcp_recved(pcb, data->tot_len);
    pbuf_free(data);
    if (left <= 0) {
        tcp_output(pcb);
        _exit(0);
    }
    return ERR_OK;
}

static err_t on_connected(void *unused, struct tcp_pcb *pcb, err_t error) {
    (void)unused, (void)error;
    tcp_recv(pcb, on_answer);
    tcp_write(pcb, wanted, strlen(wanted), TCP_WRITE_FLAG_COPY);
    tcp_write(pcb, "\n", 1, TCP_WRITE_FLAG_COPY);
    return tcp_output(pcb);
}

static void on_error(void *unused, err_t error) {
    (void)unused;
    fprintf(stderr, "the connection broke: %d\n", error);
    _exit(1);
}

static void begin(int count, char **words) {
    struct tcp_pcb *pcb = tcp_new_ip_type(IPADDR_TYPE_V4);
    ip_addr_t server;
    if (strcmp(words[1], "serve") == 0) {
        check(tcp_bind(pcb, IP4_ADDR_ANY, PORT) == ERR_OK, "the port is taken");
        tcp_accept(tcp_listen(pcb), on_accept);
        return;
    }
    check(count == 5 && ipaddr_aton(words[3], &server), "usage: transfer get OWN SERVER BYTES");
    wanted = words[4];
    left = atol(wanted);
    tcp_err(pcb, on_error);
    check(tcp_connect(pcb, &server, PORT, on_connected) == ERR_OK, "no connection");
}

/* Hands each packet of the device to lwIP's thread. */
static void receive(struct netif *netif) {
    char bytes[PACKET];
    for (;;) {
        ssize_t length = read(device, bytes, sizeof bytes);
        check(length > 0, "stack0 cannot be read");
        struct pbuf *packet = pbuf_alloc(PBUF_RAW, length, PBUF_RAM);
        if (packet == NULL)
            continue;
        pbuf_take(packet, bytes, length);
        if (netif->input(packet, netif) != ERR_OK)
            pbuf_free(packet);
    }
}

int main(int count, char **words) {
    struct netif netif;
    ip4_addr_t own, mask, gateway = {0};
    check(count > 2 && ip4addr_aton(words[2], &own), "usage: transfer serve|get OWN ...");
    IP4_ADDR(&mask, 255, 255, 0, 0); /* The whole network is behind the device. */
    open_device();
    tcpip_init(NULL, NULL);
    LOCK_TCPIP_CORE();
    check(netif_add(&netif, &own, &mask, &gateway, NULL, set_up, tcpip_input) != NULL, "no device");
    netif_set_default(&netif);
    netif_set_up(&netif);
    begin(count, words);
    UNLOCK_TCPIP_CORE();
    receive(&netif);
}
