/* Slows the syncs of files whose paths have the text of SLOW_SYNC_PATH, in a process that preloads this.
 *
 *   cc -shared -fPIC -o slow_sync.so slow_sync.c -ldl
 *   SLOW_SYNC_FILE=/tmp/ms SLOW_SYNC_PATH=/state.db LD_PRELOAD=./slow_sync.so feed-service ...
 *
 * The file holds the milliseconds that a sync takes more. It is read again every 10 ms while a sync waits,
 * so that one which stands still goes on once the file says so.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int is_slow(int descriptor) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, path, sizeof path - 1);
    if (count <= 0) return 0;
    path[count] = '\0';
    const char *wanted = getenv("SLOW_SYNC_PATH");
    return wanted != NULL && strstr(path, wanted) != NULL;
}

static long milliseconds(void) {
    const char *path = getenv("SLOW_SYNC_FILE");
    FILE *file = path == NULL ? NULL : fopen(path, "re");
    if (file == NULL) return 0;
    long value = 0;
    if (fscanf(file, "%ld", &value) != 1) value = 0;
    fclose(file);
    return value;
}

static void wait_for(int descriptor) {
    if (!is_slow(descriptor)) return;
    for (long waited = 0; waited < milliseconds(); waited += 10) {
        struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
        nanosleep(&pause, NULL);
    }
}

int fsync(int descriptor) {
    wait_for(descriptor);
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(descriptor);
}

int fdatasync(int descriptor) {
    wait_for(descriptor);
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(descriptor);
}
