import Synchronization

/// A table behind a lock that the thread sanitizer understands.
///
/// A lock that was waited for is handed over inside the kernel, where the sanitizer does not see
/// it. `handover` orders the holders once more, in the open, at no cost on common processors.
package struct TableLock<Table: Sendable>: ~Copyable, Sendable {
    private let mutex: Mutex<Table>
    private let handover = Atomic<Bool>(false)

    /// Takes the table, which from then on only the lock leads to.
    package init(_ table: Table) {
        mutex = Mutex(table)
    }

    /// Runs the body with the lock held.
    package func withLock<Result: Sendable, Failure: Error>(
        _ body: (inout Table) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try mutex.withLock { (table) throws(Failure) -> Result in
            _ = handover.load(ordering: .acquiring)
            defer { handover.store(true, ordering: .releasing) }
            return try body(&table)
        }
    }
}
