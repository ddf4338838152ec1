// Processor time: of the server, of this process, and of the machine.
#ifndef USAGE_H
#define USAGE_H

#include <sys/types.h>

// All of it in seconds, since some fixed time; differences count.
typedef struct {
    double time;
    double server;         // on a CPU, all threads, by the kernel's nanoseconds
    double server_user;    // by clock ticks
    double server_system;  // by clock ticks
    double client;
    double busy;   // of all CPUs, by clock ticks
    double steal;  // of all CPUs, by clock ticks
} usage;

// Reads all clocks, one right after the other; without a server (0) its times are 0.
usage usage_now(pid_t server);

// What was used between two readings.
usage usage_between(usage before, usage after);

#endif
