package import FeedJournal

/// Who is given cuts once they are durable.
package protocol CutReceiver: Sendable {
    /// Takes a cut; gives an array to make the next one in.
    func submit(_ body: [UInt8], at position: JournalPosition) -> [UInt8]

    /// Whether no more waits there than memory should be spent on.
    var hasRoom: Bool { get }

    /// All records up to this one are kept elsewhere, durably.
    var foldedSequence: UInt64 { get }
}
