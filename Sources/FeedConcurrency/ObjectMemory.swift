internal import CPrefetch

/// The memory of an object, to be requested some time before the object is looked at.
///
/// For a loop over many objects that are not in the processor's cache: it requests the memory of those
/// that come later, and the waits for it overlap. Nothing is read, so the object may be gone by then.
package struct ObjectMemory: BitwiseCopyable, Sendable {
    package static let none = ObjectMemory(address: 0, byteCount: 0)

    /// The bytes of a cache line.
    private static let lineByteCount: UInt = 64

    private let address: UInt
    private let byteCount: UInt

    /// The first bytes of an object.
    ///
    /// Not an initializer, which would retain the object, and so look at it.
    package static func of(_ object: AnyObject, byteCount: Int) -> ObjectMemory {
        let start = unsafe Unmanaged.passUnretained(object).toOpaque()
        return ObjectMemory(address: UInt(bitPattern: start), byteCount: UInt(byteCount))
    }

    /// Requests the cache lines that have the bytes.
    package func prefetch() {
        var line = address & ~(Self.lineByteCount - 1)
        let end = address &+ byteCount
        while line < end {
            unsafe cprefetch_for_write(UnsafeRawPointer(bitPattern: line))
            line &+= Self.lineByteCount
        }
    }
}
