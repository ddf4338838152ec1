// What pump is asked to do.
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "requests.h"

typedef struct {
    protocol protocol;
    int port;
    bool tls;                 // connections are secured with TLS 1.3
    pid_t server;             // whose processor time is read, or 0
    int connections;          // that vote
    int in_flight;            // requests on each of them
    uint64_t batch_votes;     // votes in a request; 1: requests of one vote each
    uint64_t vote_rate;       // votes a second in all; 0: as many as are answered
    uint64_t burst;           // of them that a connection sends at once; 0: all send every tick
    uint64_t voters;          // users who cast ballots, dealt to the connections; 0: none
    uint64_t page_share;      // of 100 requests on connections that vote, how many are for pages
    unsigned order, window;   // of those pages, by their numbers on the wire
    bool further;             // they are by token
    const char *feed;         // that posts are created in, and whose pages are read
    uint64_t posts;
    double zipf;              // the exponent; 0: every post is as likely
    uint64_t seed;
    double warmup_seconds;
    double seconds;
    int first_page_rate;      // first pages read a second, beside; 0: none
    int page_connections;     // that ask for pages as fast as they are answered
    int pages_in_flight;      // on each of them
    const char *script;       // RESP: the SHA of the script that makes a page, or casts a ballot
    uint64_t check_every;     // answers are decoded one in so many
    int read_orders;          // reads the first page of so many orders and ends, where not 0
    uint64_t create;          // creates so many posts and ends, where not 0
    uint64_t batch;           // of them in a request; above 1 they are imported
} options;

// Reads the command line; a wrong one ends the process with exit code 2.
options options_read(int count, char **arguments);

#endif
