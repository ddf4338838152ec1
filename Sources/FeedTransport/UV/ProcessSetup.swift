import CLibUV

/// Settings of the whole process, made before it uses sockets.
package enum ProcessSetup {
    /// Opens `/dev/null` for each standard stream that was closed when the process started.
    ///
    /// A file or socket that is opened later would get its number, and lines of a log would be written
    /// to it. Call it before the process opens anything.
    package static func openStandardStreams() {
        clibuv_open_standard_streams()
    }

    /// Lets a write to a closed connection fail instead of ending the process.
    package static func ignoreBrokenPipes() {
        clibuv_ignore_broken_pipes()
    }

    /// Lets a signal wait until a loop watches it, or ``unblock(_:)`` is called.
    ///
    /// Call it before the process has other threads: they block what the thread blocks that starts them.
    package static func block(_ signal: Int32) {
        clibuv_block_signal(signal)
    }

    /// Lets the calling thread take a signal, also one that has waited.
    package static func unblock(_ signal: Int32) {
        clibuv_unblock_signal(signal)
    }

    /// Returns large allocations, of 128 KiB and more, to the system when they are freed.
    ///
    /// By default the allocator takes the first one that is freed as a sign to keep such memory:
    /// the answers of a peak would be held a second time, as free memory of the heap.
    package static func mapLargeAllocations() {
        clibuv_map_large_allocations(128 << 10, 4 << 20)
    }

    /// Returns the allocator's free memory to the system.
    ///
    /// It takes milliseconds for each hundred megabytes, so call it on any thread but a loop's.
    package static func giveMemoryBack() {
        clibuv_give_memory_back()
    }

    /// Raises the limit of open files to the highest that the system allows; returns it.
    package static func raiseOpenFileLimit() -> Int {
        max(0, Int(clibuv_raise_open_file_limit()))
    }
}
