#ifndef CPREFETCH_SHIM_H
#define CPREFETCH_SHIM_H

/// Asks for the cache line of an address that is soon written to; no address faults.
static inline void cprefetch_for_write(const void *address) { __builtin_prefetch(address, 1, 3); }

/// Asks for the cache line of an address that is soon read; no address faults.
static inline void cprefetch_for_read(const void *address) { __builtin_prefetch(address, 0, 3); }

#endif
