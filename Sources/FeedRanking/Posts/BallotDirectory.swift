internal import CPrefetch
import Glibc
import Synchronization

/// The address and the size of a stripe's table of ballots, for prefetching without the stripe's lock.
///
/// A thread without the lock may read the two while the table grows, and ask for an address that no
/// table has. Such a prefetch is wasted and harmless. `Sendable` because the words are atomic, and
/// nobody reads the table through them.
@safe
struct BallotDirectory: BitwiseCopyable, @unchecked Sendable {
    private let address: UnsafeMutablePointer<Atomic<UInt>>
    private let count: UnsafeMutablePointer<Atomic<UInt>>

    /// The directory of a table without places, to be freed by `free()`.
    init() {
        guard let block = unsafe calloc(2, MemoryLayout<UInt>.stride) else {
            fatalError("No memory for the directory of a table of ballots.")
        }
        unsafe address = block.bindMemory(to: Atomic<UInt>.self, capacity: 2)
        unsafe count = address + 1
    }

    /// Sets where the table is, and how many places it has.
    func set(address: UInt, count: Int) {
        unsafe self.address.pointee.store(address, ordering: .relaxed)
        unsafe self.count.pointee.store(UInt(count), ordering: .relaxed)
    }

    /// Prefetches the place at which the search for a key begins; does nothing for an empty table.
    @inline(__always)
    func prefetch(_ key: UInt64) {
        let count = unsafe self.count.pointee.load(ordering: .relaxed)
        guard count > 0 else { return }
        let place = BallotTable.firstPlace(of: key, among: Int(count))
        let address = unsafe self.address.pointee.load(ordering: .relaxed)
        let word = address &+ UInt(place &* MemoryLayout<UInt64>.stride)
        unsafe cprefetch_for_write(UnsafeRawPointer(bitPattern: word))
    }

    /// Frees the directory, but not the table.
    func free() {
        unsafe Glibc.free(address)
    }
}
