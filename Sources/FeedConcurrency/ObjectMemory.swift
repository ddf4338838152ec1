internal import CPrefetch

/// The memory of an object, to be requested some time before the object is looked at.
///
/// For a loop over many objects that are not in the processor's cache: it requests the memory of those
/// that come later, and the waits for it overlap. Nothing is read, so the object may be gone by then.
package struct ObjectMemory: BitwiseCopyable, Sendable {
    /// The bytes of a cache line.
    private static let lineByteCount: UInt = 64

    private let address: UInt

    /// No memory.
    package static let none = ObjectMemory(address: 0)

    /// The memory of an object.
    ///
    /// Not an initializer, which would retain the object, and so look at it.
    package static func of(_ object: AnyObject) -> ObjectMemory {
        let start = unsafe Unmanaged.passUnretained(object).toOpaque()
        return ObjectMemory(address: UInt(bitPattern: start))
    }

    /// Requests so many cache lines from the beginning of the object.
    package func prefetch(lineCount: Int) {
        for line in 0..<UInt(lineCount) {
            unsafe cprefetch_for_write(
                UnsafeRawPointer(bitPattern: address &+ line &* Self.lineByteCount)
            )
        }
    }
}
