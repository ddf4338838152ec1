/// Why a connection is not read from at the moment; it is when there is no reason.
struct ReadPauses: OptionSet {
    let rawValue: UInt8

    /// It is not open yet.
    static let unopened = ReadPauses(rawValue: 32)
    /// The handler asked for it.
    static let handler = ReadPauses(rawValue: 1)
    /// Too much is unsent: nothing is read and nothing is worked on.
    static let backPressure = ReadPauses(rawValue: 2)
    /// What was read is still being worked on, a turn at a time.
    static let turn = ReadPauses(rawValue: 4)
    /// All connections together hold too much, and this one more than its share.
    static let budget = ReadPauses(rawValue: 8)
    /// Nothing more will come, or it does not matter.
    static let ended = ReadPauses(rawValue: 16)
}
