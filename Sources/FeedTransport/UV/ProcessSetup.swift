import CLibUV

/// What a program sets for its whole process before it uses sockets.
package enum ProcessSetup {
    /// Lets a write to a closed connection fail instead of ending the process.
    package static func ignoreBrokenPipes() {
        clibuv_ignore_broken_pipes()
    }

    /// Has large allocations, of 128 KiB and more, go back to the system when they are freed.
    ///
    /// By itself the allocator takes the first one that is freed as a sign to keep such memory: the
    /// answers of a peak would be held a second time, as the heap's free memory.
    package static func mapLargeAllocations() {
        clibuv_map_large_allocations(128 << 10, 4 << 20)
    }

    /// Gives memory that the allocator has free back to the system; for any thread but a loop's, as
    /// it takes milliseconds for each hundred megabytes.
    package static func giveMemoryBack() {
        clibuv_give_memory_back()
    }

    /// Raises the limit of open files as far as the system lets it; answers what it is now.
    package static func raiseOpenFileLimit() -> Int {
        max(0, Int(clibuv_raise_open_file_limit()))
    }
}
