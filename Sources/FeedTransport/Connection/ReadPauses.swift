/// The reasons not to read from a connection; it is read from when there is none.
struct ReadPauses: OptionSet {
    let rawValue: UInt8

    /// It is not open yet.
    static let unopened = ReadPauses(rawValue: 32)
    /// The handler asked for it.
    static let handler = ReadPauses(rawValue: 1)
    /// Too much is unsent: nothing is read and no work is done.
    static let backPressure = ReadPauses(rawValue: 2)
    /// The bytes that were read are still being worked on, one loop iteration at a time.
    static let turn = ReadPauses(rawValue: 4)
    /// All connections together hold too much, and this one holds more than its share.
    static let budget = ReadPauses(rawValue: 8)
    /// No more bytes will arrive, or they do not matter.
    static let ended = ReadPauses(rawValue: 16)
}
