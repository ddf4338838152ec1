#include "usage.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double clock_seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// The kernel's run time of every thread: exact, where utime and stime are sampled by ticks.
static double thread_seconds(pid_t server) {
    char path[512];
    snprintf(path, sizeof path, "/proc/%d/task", (int)server);
    DIR *tasks = opendir(path);
    if (!tasks) return 0;
    double sum = 0;
    for (struct dirent *task; (task = readdir(tasks));) {
        if (task->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", (int)server, task->d_name);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        unsigned long long nanoseconds;
        if (fscanf(file, "%llu", &nanoseconds) == 1) sum += (double)nanoseconds * 1e-9;
        fclose(file);
    }
    closedir(tasks);
    return sum;
}

static void read_server_ticks(pid_t server, double tick, usage *now) {
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)server);
    FILE *file = fopen(path, "r");
    if (!file) return;
    char *name_end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    unsigned long user, system;
    if (name_end
        && sscanf(name_end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
               &system) == 2) {
        now->server_user = (double)user * tick;
        now->server_system = (double)system * tick;
    }
    fclose(file);
}

static void read_machine_ticks(double tick, usage *now) {
    FILE *file = fopen("/proc/stat", "r");
    if (!file) return;
    unsigned long long user, nice, system, idle, wait, irq, softirq, steal;
    if (fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
            &wait, &irq, &softirq, &steal) == 8) {
        now->busy = (double)(user + nice + system + irq + softirq) * tick;
        now->steal = (double)steal * tick;
    }
    fclose(file);
}

usage usage_now(pid_t server) {
    double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    usage now = {
        .time = clock_seconds(CLOCK_MONOTONIC), .client = clock_seconds(CLOCK_PROCESS_CPUTIME_ID)};
    if (server > 0) {
        now.server = thread_seconds(server);
        read_server_ticks(server, tick, &now);
    }
    read_machine_ticks(tick, &now);
    return now;
}

usage usage_between(usage before, usage after) {
    return (usage){
        .time = after.time - before.time,
        .server = after.server - before.server,
        .server_user = after.server_user - before.server_user,
        .server_system = after.server_system - before.server_system,
        .client = after.client - before.client,
        .busy = after.busy - before.busy,
        .steal = after.steal - before.steal,
    };
}
