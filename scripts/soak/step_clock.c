/* Steps the time of day of a process that preloads this: CLOCK_REALTIME is off by so many nanoseconds as the file
 * STEP_CLOCK_FILE has in its first 8 bytes. Other clocks run as they do.
 *
 *   cc -shared -fPIC -o step_clock.so step_clock.c -ldl
 *   STEP_CLOCK_FILE=/tmp/offset LD_PRELOAD=./step_clock.so feed-service ...
 *
 * The file is mapped, so that another process changes it at any time.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t second = 1000 * 1000 * 1000;
static int (*real)(clockid_t, struct timespec *);
static const volatile int64_t *offset;

__attribute__((constructor)) static void begin(void) {
    real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *path = getenv("STEP_CLOCK_FILE");
    int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void *mapped = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED) offset = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (real == NULL) begin();
    int code = real(clock, time);
    if (code != 0 || offset == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return code;
    int64_t now = time->tv_sec * second + time->tv_nsec + *offset;
    time->tv_sec = now / second;
    time->tv_nsec = now % second;
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    int code = clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return code;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result != NULL) *result = now.tv_sec;
    return now.tv_sec;
}
