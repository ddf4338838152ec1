#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage_text[] =
    "pump --port PORT [options]\n"
    "Sends votes over loopback and prints one line of JSON: answers, and processor time.\n\n"
    "  --server-pid PID        whose processor time is read\n"
    "  --tls                   TLS 1.3, without a check of the certificate\n"
    "  --protocol feed|resp    frames of the service (or an echo of them), or Redis's (feed)\n"
    "  --connections N         connections that vote (500)\n"
    "  --in-flight N           requests on each; with each read as many leave as came back (1)\n"
    "  --batch N               votes in each request, sent as BatchCastVotes; 1: as CastVote (1)\n"
    "  --vote-rate N           votes a second in all, sent every millisecond, answered or not\n"
    "  --burst N               connections take turns, each with N of those requests in one write,\n"
    "                          and latencies are kept; 0: all send every millisecond (0)\n"
    "  --voters N              users who change their ballots: 10 of 16 up, 4 down, 2 taken back;\n"
    "                          a user belongs to one connection; 0: votes have no user (0)\n"
    "  --page-share N          of 100 requests on those connections, so many are for pages, of those\n"
    "                          users if there are any (0)\n"
    "  --order N, --window N   of those pages, by their numbers in the contract (1: TOP; 0: all)\n"
    "  --further               those pages are by token: behind the one before, or in one of eight\n"
    "                          behind the first page\n"
    "  --feed NAME             posts are created in it, and pages are of it (posts)\n"
    "  --posts N               posts 1 to N are voted on (100000)\n"
    "  --zipf S                their shares are rank^-S, scattered; 0: all are as likely (0)\n"
    "  --seed N                of the choice of posts (1)\n"
    "  --warmup SECONDS        before the clocks are read (1)\n"
    "  --seconds SECONDS       between the readings (3)\n"
    "  --first-page-rate N     beside, TOP, NEW and HOT pages a second, answered or not (0)\n"
    "  --page-connections N    beside, connections that ask for TOP pages (0)\n"
    "  --pages-in-flight N     requests on each of them (16)\n"
    "  --script SHA            of the script that makes Redis's page, or casts a ballot\n"
    "  --check-every N         decode one answer in N (64)\n"
    "  --read-orders N         read the first pages of the first N of TOP, NEW, HOT, and end\n"
    "  --create N              create N posts over one connection, and end\n"
    "  --import N              import N posts over one connection, and end\n";

static void refuse(const char *flag, const char *expected, const char *value) {
    fprintf(stderr, "--%s: expected %s, got %s.\n", flag, expected, value);
    exit(2);
}

static double number(const char *flag, const char *value, double least, double most) {
    char *end, expected[64];
    double result = strtod(value, &end);
    if (end == value || *end || !(result >= least && result <= most)) {
        snprintf(expected, sizeof expected, "%.0f to %.0f", least, most);
        refuse(flag, expected, value);
    }
    return result;
}

static uint64_t whole(const char *flag, const char *value, double least, double most) {
    return (uint64_t)number(flag, value, least, most);
}

static const struct option flags[] = {
    {"port", required_argument, NULL, 'p'},
    {"tls", no_argument, NULL, 't'},
    {"server-pid", required_argument, NULL, 'S'},
    {"protocol", required_argument, NULL, 'o'},
    {"connections", required_argument, NULL, 'c'},
    {"in-flight", required_argument, NULL, 'P'},
    {"batch", required_argument, NULL, 'B'},
    {"vote-rate", required_argument, NULL, 'r'},
    {"burst", required_argument, NULL, 'b'},
    {"voters", required_argument, NULL, 'v'},
    {"page-share", required_argument, NULL, 'a'},
    {"order", required_argument, NULL, 'e'},
    {"window", required_argument, NULL, 'W'},
    {"further", no_argument, NULL, 'u'},
    {"feed", required_argument, NULL, 'F'},
    {"posts", required_argument, NULL, 'n'},
    {"zipf", required_argument, NULL, 'z'},
    {"seed", required_argument, NULL, 's'},
    {"warmup", required_argument, NULL, 'w'},
    {"seconds", required_argument, NULL, 'd'},
    {"first-page-rate", required_argument, NULL, 'f'},
    {"page-connections", required_argument, NULL, 'C'},
    {"pages-in-flight", required_argument, NULL, 'g'},
    {"script", required_argument, NULL, 'x'},
    {"check-every", required_argument, NULL, 'k'},
    {"read-orders", required_argument, NULL, 'O'},
    {"create", required_argument, NULL, 'N'},
    {"import", required_argument, NULL, 'I'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static void take(options *options, int flag, const char *name, const char *value) {
    switch (flag) {
        case 'p': options->port = (int)whole(name, value, 1, 65535); break;
        case 't': options->tls = true; break;
        case 'S': options->server = (pid_t)whole(name, value, 1, 1 << 30); break;
        case 'o':
            if (strcmp(value, "feed") && strcmp(value, "resp")) refuse(name, "feed or resp", value);
            options->protocol = strcmp(value, "resp") ? PROTOCOL_FEED : PROTOCOL_RESP;
            break;
        case 'c': options->connections = (int)whole(name, value, 0, 10000); break;
        case 'P': options->in_flight = (int)whole(name, value, 1, 1024); break;
        case 'B': options->batch_votes = whole(name, value, 1, REQUEST_BATCH_VOTES); break;
        case 'r': options->vote_rate = whole(name, value, 1000, 1e7); break;
        case 'b': options->burst = whole(name, value, 0, 1024); break;
        case 'v': options->voters = whole(name, value, 0, 1e8 - 1); break;
        case 'a': options->page_share = whole(name, value, 0, 100); break;
        case 'e': options->order = (unsigned)whole(name, value, 1, 8); break;
        case 'W': options->window = (unsigned)whole(name, value, 0, 5); break;
        case 'u': options->further = true; break;
        case 'F':
            if (strlen(value) < 1 || strlen(value) > 63) refuse(name, "1 to 63 bytes", value);
            options->feed = value;
            break;
        case 'n': options->posts = whole(name, value, 1, 4e9); break;
        case 'z': options->zipf = number(name, value, 0, 10); break;
        case 's': options->seed = whole(name, value, 0, 1e15); break;
        case 'w': options->warmup_seconds = number(name, value, 0, 3600); break;
        case 'd': options->seconds = number(name, value, 0, 3600); break;
        case 'f': options->first_page_rate = (int)whole(name, value, 0, 1000); break;
        case 'C': options->page_connections = (int)whole(name, value, 0, 1000); break;
        case 'g': options->pages_in_flight = (int)whole(name, value, 1, 256); break;
        case 'x':
            if (strlen(value) != 40) refuse(name, "40 hexadecimal digits", value);
            options->script = value;
            break;
        case 'k': options->check_every = whole(name, value, 1, 1e9); break;
        case 'O': options->read_orders = (int)whole(name, value, 1, 3); break;
        case 'N':
        case 'I':
            options->create = whole(name, value, 1, 1e8);
            options->batch = flag == 'I' ? REQUEST_IMPORT_POSTS : 1;
            break;
        case 'h': fputs(usage_text, stdout); exit(0);
        default: fputs(usage_text, stderr); exit(2);
    }
}

options options_read(int count, char **arguments) {
    options options = {
        .protocol = PROTOCOL_FEED,
        .connections = 500,
        .in_flight = 1,
        .batch_votes = 1,
        .order = 1,
        .feed = "posts",
        .posts = 100000,
        .seed = 1,
        .warmup_seconds = 1,
        .seconds = 3,
        .pages_in_flight = 16,
        .check_every = 64,
    };
    int flag, index = 0;
    while ((flag = getopt_long(count, arguments, "", flags, &index)) != -1)
        take(&options, flag, flag == '?' ? "" : flags[index].name, optarg);
    if (optind < count) refuse("port", "flags alone", arguments[optind]);
    if (options.port == 0) refuse("port", "1 to 65535", "nothing");
    if (options.burst && !options.vote_rate) refuse("burst", "a --vote-rate beside it", "none");
    if (options.batch_votes > 1 && options.in_flight > 256)
        refuse("in-flight", "at most 256 with --batch", "more");
    if (options.batch_votes > 1 && options.vote_rate && (options.burst < 1 || options.burst > 256))
        refuse("burst", "1 to 256 with --batch and --vote-rate", "none or more");
    if (options.batch_votes > 1 && options.protocol == PROTOCOL_RESP)
        refuse("batch", "--protocol feed", "resp");
    if (options.protocol == PROTOCOL_RESP && !options.script
        && (options.page_connections || options.page_share || options.voters))
        refuse("script", "the SHA of a script for pages or ballots of Redis", "nothing");
    if (options.voters && options.voters < (uint64_t)options.connections)
        refuse("voters", "at least one for each connection", "fewer");
    if (options.protocol == PROTOCOL_RESP && options.page_share && options.voters)
        refuse("voters", "none with --page-share of Redis", "some");
    if (options.voters && options.batch_votes > 1) refuse("batch", "1 with --voters", "more");
    return options;
}
