#ifndef MALLOC_HOOK_H
#define MALLOC_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether allocations are seen: not with a sanitizer, which brings a malloc of its own.
bool malloc_hook_is_active(void);

/// How often the calling thread has asked for memory.
uint64_t malloc_hook_count(void);

/// How often all threads of the process have asked for memory.
uint64_t malloc_hook_process_count(void);

/// Lets the calling thread's requests of this size and more fail from now on; SIZE_MAX lets none.
void malloc_hook_fail_from(size_t size);

/// The bytes that the whole process holds from malloc now.
size_t malloc_hook_live_byte_count(void);

#endif
