/// The numbers that a start skips, so that none is given twice.
///
/// Every number that a client has seen is durable, as answers wait for that, and a run continues
/// them. It cannot where the machine was started after a run with `--durability os`, which may have
/// lost changes, or where the state is an older one, as after a restore. Then a start skips more
/// numbers than were given since, as far as that can be told.
package enum SkippedNumbers {
    /// What revisions are raised by at each start, above all that were given before.
    package static let revisions: UInt64 = 1 << 24
    /// What they are raised by where the last ones are not known: by days of changes and thousands of
    /// starts.
    package static let unknownRevisions: UInt64 = 1 << 40
    /// What the ids of posts are raised by: they are places in memory, so they are not raised by more.
    package static let postIDs: UInt64 = 1 << 24

    /// The highest account number from which an instance continues, where it skips numbers.
    ///
    /// It skips 2^32 to 2^44 of them, and another instance another count as a rule: two restores of one
    /// backup do not give the same numbers. Numbers stay without the top bit, which is for the users of
    /// a service's own; where no more can be skipped, none are.
    package static func accounts(above highest: UInt64, instance: UInt64) -> UInt64 {
        let raised = highest &+ (instance % 4096 + 1) << 32
        return raised >> 63 == 0 ? raised : highest
    }
}
