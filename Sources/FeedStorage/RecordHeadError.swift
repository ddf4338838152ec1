/// Why a record of a cluster does not continue those before it, or is none that this program can read.
package enum RecordHeadError: Error, Equatable, Sendable {
    /// The record has no head, though it is behind the last one of a single machine.
    case missing(record: UInt64)
    /// The record has a head, though the directory is one machine's, or was when it was written.
    case unexpected(record: UInt64)
    case newerFormat(record: UInt64, format: UInt32, known: UInt32)
    /// The record may have log entries that this program does not know.
    case newerLevel(record: UInt64, level: UInt32, known: UInt32)
    /// The head names another chain of the records before it than they have.
    case otherChain(record: UInt64, found: UInt64, expected: UInt64)
    case otherCount(record: UInt64, found: UInt64, expected: UInt32)

    /// Whether a newer program can read the record.
    package var isOfNewerProgram: Bool {
        switch self {
        case .newerFormat, .newerLevel: true
        case .missing, .unexpected, .otherChain, .otherCount: false
        }
    }
}

extension RecordHeadError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing(let record):
            return "Record \(record) of the journal has no head, and those of a cluster have one."
        case .unexpected(let record):
            return "Record \(record) of the journal is a cluster's, and state.db is of one machine "
                + "at that record."
        case .newerFormat(let record, let format, let known):
            return "The head of record \(record) of the journal has format \(format); this program "
                + "knows formats up to \(known)."
        case .newerLevel(let record, let level, let known):
            return "Record \(record) of the journal is of level \(level); this program knows "
                + "levels up to \(known)."
        case .otherChain(let record, let found, let expected):
            return "Record \(record) of the journal continues the chain \(hexadecimal(found)), "
                + "and the records before it have \(hexadecimal(expected))."
        case .otherCount(let record, let found, let expected):
            return "Record \(record) of the journal has \(found) log entries, and its head says "
                + "\(expected)."
        }
    }
}
