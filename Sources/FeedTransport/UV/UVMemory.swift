import Glibc

/// Memory for buffers: large ones are pages of their own, which go back to the system when they are
/// freed.
///
/// From the heap they would not: what lies behind them keeps them.
enum UVMemory {
    /// The size from which memory is mapped: below it a map costs more than the copy into it.
    private static let mappedByteCount = 64 * 1_024

    /// How much to allocate for so many bytes: what is mapped comes in whole pages.
    static func size(holding byteCount: Int) -> Int {
        guard byteCount >= mappedByteCount else { return byteCount }
        return (byteCount + 4_095) & ~4_095
    }

    /// Memory of this size, which ``size(holding:)`` gave.
    static func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
        guard byteCount >= mappedByteCount else {
            return .allocate(byteCount: byteCount, alignment: 16)
        }
        let mapped = unsafe mmap(
            nil,
            byteCount,
            PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS,
            -1,
            0
        )
        guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else {
            fatalError("No memory is left for a buffer of \(byteCount) bytes.")
        }
        return unsafe mapped
    }

    /// Gives memory back that ``allocate(byteCount:)`` gave for the same size.
    static func free(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
        guard byteCount >= mappedByteCount else {
            unsafe memory.deallocate()
            return
        }
        let code = unsafe munmap(memory, byteCount)
        precondition(code == 0, "Memory of \(byteCount) bytes was freed that was not mapped.")
    }
}
