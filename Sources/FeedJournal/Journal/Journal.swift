/// A log of batches that outlives the process; its caller defines what a batch means.
///
/// Each call blocks until the storage has answered. One thread makes all calls.
package protocol Journal: AnyObject {
    /// The newest record.
    var last: JournalPosition { get }

    /// Adds a batch and returns once it is as durable as the journal promises.
    ///
    /// `count` is how many entries the caller has put into the body, and `microseconds` its time,
    /// raised to the last record's where it is before that. After an error, the
    /// batch may be found again or not, and every later append fails; only a record that is too
    /// large changes nothing.
    func append(
        _ body: Span<UInt8>,
        count: UInt32,
        at microseconds: UInt64
    ) throws(JournalError) -> JournalPosition

    /// Gives the records after a position in order, until `body` says false or none is left.
    func replay(
        after number: UInt64,
        _ body: (JournalRecord, Span<UInt8>) -> Bool
    ) throws(JournalError)

    /// Learns that all records up to a number are kept elsewhere, durably, and need not be replayed.
    func forget(through number: UInt64) throws(JournalError)
}
