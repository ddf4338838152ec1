/// Why bytes are no frame.
public enum FrameError: Error, Equatable {
    /// A frame of no bytes; every message has at least an id.
    case empty
    /// A frame longer than the limit.
    case tooLarge(length: UInt64, limit: Int)
}

extension FrameError: CustomStringConvertible {
    /// What happened, with the actual length and the limit.
    public var description: String {
        switch self {
        case .empty:
            "Frame of 0 bytes; the shortest has 1 byte."
        case .tooLarge(let length, let limit):
            "Frame of \(length) bytes exceeds the limit of \(limit) bytes."
        }
    }
}
