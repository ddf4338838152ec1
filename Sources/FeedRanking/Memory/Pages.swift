#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// What the kernel is told of pages of memory: nothing on Darwin, where a store serves tests alone.
enum Pages {
    /// Gives pages back, which read as zeros then, and take no memory until they are written to; false
    /// if they stay as they are.
    @discardableResult
    static func giveBack(_ start: UnsafeMutableRawPointer?, _ byteCount: Int) -> Bool {
        #if os(Linux)
        unsafe madvise(start, byteCount, MADV_DONTNEED) == 0
        #else
        false
        #endif
    }

    /// Makes pages read as zeros.
    static func clear(_ start: UnsafeMutableRawPointer, _ byteCount: Int) {
        if unsafe giveBack(start, byteCount) { return }
        unsafe memset(start, 0, byteCount)
    }

    /// Has the kernel make pages at once, in place of a fault or two for each; a kernel that does not know
    /// how makes them one by one.
    static func make(_ start: UnsafeMutableRawPointer?, _ byteCount: Int) {
        #if os(Linux)
        let populateWrite: Int32 = 23
        _ = unsafe madvise(start, byteCount, populateWrite)
        #endif
    }

    /// Asks for huge pages, if told so at once and with what is there; a kernel may refuse.
    static func useHuge(_ start: UnsafeMutableRawPointer?, _ byteCount: Int, atOnce: Bool = false) {
        #if os(Linux)
        _ = unsafe madvise(start, byteCount, MADV_HUGEPAGE)
        let collapse: Int32 = 25
        if atOnce { _ = unsafe madvise(start, byteCount, collapse) }
        #endif
    }

    /// `free`, for types with a function of this name.
    static func free(_ block: UnsafeMutableRawPointer) {
        #if canImport(Darwin)
        unsafe Darwin.free(block)
        #else
        unsafe Glibc.free(block)
        #endif
    }
}
