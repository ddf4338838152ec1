import Glibc

/// Memory for buffers: large buffers are pages of their own, which return to the system when they
/// are freed.
///
/// Memory from the heap would not return: allocations behind it keep it.
enum UVMemory {
    /// The size from which memory is mapped; below it a map costs more than the copy into it.
    private static let mappedByteCount = 64 * 1_024

    /// How much to allocate for a number of bytes: mapped memory comes in whole pages.
    static func size(holding byteCount: Int) -> Int {
        guard byteCount >= mappedByteCount else { return byteCount }
        return (byteCount + 4_095) & ~4_095
    }

    /// Memory of a size that ``size(holding:)`` returned.
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

    /// Frees memory that ``allocate(byteCount:)`` returned for the same size.
    ///
    /// Nothing of it is left: the system takes mapped memory back, and the heap's is overwritten.
    static func free(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
        guard byteCount >= mappedByteCount else {
            unsafe explicit_bzero(memory, byteCount)
            unsafe memory.deallocate()
            return
        }
        let code = unsafe munmap(memory, byteCount)
        precondition(code == 0, "Memory of \(byteCount) bytes was freed that was not mapped.")
    }
}
