/* What the two halves of a guest's first process share. */
#ifndef AGENT_H
#define AGENT_H
#include <stddef.h>
#include <stdint.h>

enum { OUTPUT = 68, EXITED };

/* Sends a report. */
void say(uint8_t op, uint16_t flow, uint8_t place, uint32_t seq, const void *body, size_t length);
/* Powers the guest off. */
void die(const char *what);
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
