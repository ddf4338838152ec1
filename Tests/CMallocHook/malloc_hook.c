// Replaces the C library's allocation functions in a test program: counts, and fails on demand.
#include "malloc_hook.h"

#include <malloc.h>
#include <errno.h>
#include <stdatomic.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MALLOC_HOOK_INACTIVE
#endif
#endif

static _Thread_local uint64_t count;
static _Atomic uint64_t process_count;
static _Thread_local size_t fail_from = SIZE_MAX;

uint64_t malloc_hook_count(void) { return count; }

uint64_t malloc_hook_process_count(void) {
    return atomic_load_explicit(&process_count, memory_order_relaxed);
}

void malloc_hook_fail_from(size_t size) { fail_from = size; }

#if defined(MALLOC_HOOK_INACTIVE)

bool malloc_hook_is_active(void) { return false; }

#else

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t number, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

bool malloc_hook_is_active(void) { return true; }

static bool admit(size_t size) {
    count += 1;
    atomic_fetch_add_explicit(&process_count, 1, memory_order_relaxed);
    if (size < fail_from) return true;
    errno = ENOMEM;
    return false;
}

void *malloc(size_t size) { return admit(size) ? __libc_malloc(size) : NULL; }

void *calloc(size_t number, size_t size) {
    return admit(number * size) ? __libc_calloc(number, size) : NULL;
}

void *realloc(void *memory, size_t size) {
    return admit(size) ? __libc_realloc(memory, size) : NULL;
}

void *memalign(size_t alignment, size_t size) {
    return admit(size) ? __libc_memalign(alignment, size) : NULL;
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    *memory = memalign(alignment, size);
    return *memory == NULL ? ENOMEM : 0;
}

#endif

size_t malloc_hook_live_byte_count(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
