/* What the parts of a guest's first process share. */
#ifndef AGENT_H
#define AGENT_H
#include <stddef.h>
#include <stdint.h>

/* The kinds of reports. */
enum { HELLO = 64, REPLY, STATE, SAMPLE, OUTPUT, EXITED };
/* The numbers of files. Those of the sockets of 1000 flows are less, those of programs follow. */
enum { REQUESTS = 2000, PACKETS, DRAINED, OF_PROGRAMS };

/* Sends a report. */
void say(uint8_t op, uint16_t flow, uint8_t place, uint32_t seq, const void *body, size_t length);
/* Powers the guest off. */
void die(const char *what);
/* Waits for these events of a file with this number. */
void watch_file(int fd, uint32_t events, uint64_t number);
/* Calls `on_program` with this number when the file is readable. */
void watch_program(int fd, int number);

/* Shows the host's files below /host, where nothing can be written but in memory: an error or 0. */
int show_files(void);
/* Makes the device of a stack in user space: an error or 0. */
int make_tun(void);
/* Keeps a part of the next program's words, which begins at this place: an error or 0. */
int keep_words(const void *body, size_t length);
/* Starts a program: an error or 0. */
int start_program(uint16_t program, const void *body, size_t length);
void on_program(int number);
#endif
