/// The kind of a frame, and its form.
package enum FrameKind: UInt8, CaseIterable, Sendable {
    case hello = 1
    case propose = 2
    case durable = 3
    case read = 4
    case member = 5
    case transfer = 6
    case status = 7
    case copy = 8
    case noCopy = 9

    case welcome = 64
    case entry = 65
    case committed = 66
    case role = 67
    case refused = 68
    case readOK = 69
    case readNo = 70
    case heard = 71
    case added = 72
    case memberWanted = 73
    case copyWanted = 74
    case copyDone = 75
    case install = 76
    case tooOld = 77
    case statusIs = 78
    case end = 79

    /// The kinds that a service says.
    package static let ofService: ClosedRange<UInt8> = 1...9
    /// The kinds that a replica says.
    package static let ofReplica: ClosedRange<UInt8> = 64...79

    package struct Layout: Sendable {
        /// The name on the page of the contract.
        package let name: String
        package let fieldCount: Int
        package let tail: ClosedRange<Int>
    }

    package var layout: Layout {
        let text = 0...ReplicaLimits.textByteCount
        let path = 1...ReplicaLimits.textByteCount
        return switch self {
        case .hello: Layout(name: "HELLO", fieldCount: 4, tail: 16...16 + text.upperBound)
        case .propose:
            // A batch over the log's limit is refused, and the session goes on.
            Layout(name: "PROPOSE", fieldCount: 2, tail: 1...ReplicaLimits.frameByteCount - 17)
        case .durable: Layout(name: "DURABLE", fieldCount: 1, tail: 0...0)
        case .read: Layout(name: "READ", fieldCount: 1, tail: 0...0)
        case .member: Layout(name: "MEMBER", fieldCount: 4, tail: text)
        case .transfer: Layout(name: "TRANSFER", fieldCount: 1, tail: 0...0)
        case .status: Layout(name: "STATUS", fieldCount: 1, tail: 0...0)
        case .copy: Layout(name: "COPY", fieldCount: 2, tail: path)
        case .noCopy: Layout(name: "NO_COPY", fieldCount: 1, tail: text)
        case .welcome: Layout(name: "WELCOME", fieldCount: 6, tail: 16...16)
        case .entry: Layout(name: "ENTRY", fieldCount: 3, tail: 0...ReplicaLimits.bodyByteCount)
        case .committed: Layout(name: "COMMITTED", fieldCount: 2, tail: 0...0)
        case .role: Layout(name: "ROLE", fieldCount: 4, tail: 0...0)
        case .refused: Layout(name: "REFUSED", fieldCount: 3, tail: text)
        case .readOK: Layout(name: "READ_OK", fieldCount: 1, tail: 0...0)
        case .readNo: Layout(name: "READ_NO", fieldCount: 1, tail: 0...0)
        case .heard: Layout(name: "HEARD", fieldCount: 2, tail: 0...0)
        case .added: Layout(name: "ADDED", fieldCount: 2, tail: 1...ReplicaLimits.tokenByteCount)
        case .memberWanted: Layout(name: "MEMBER_WANTED", fieldCount: 2, tail: 0...0)
        case .copyWanted: Layout(name: "COPY_WANTED", fieldCount: 2, tail: 0...0)
        case .copyDone: Layout(name: "COPY_DONE", fieldCount: 1, tail: 0...0)
        case .install: Layout(name: "INSTALL", fieldCount: 1, tail: path)
        case .tooOld: Layout(name: "TOO_OLD", fieldCount: 1, tail: 0...0)
        case .statusIs:
            Layout(name: "STATUS_IS", fieldCount: 1, tail: 2...ReplicaLimits.documentByteCount)
        case .end: Layout(name: "END", fieldCount: 1, tail: text)
        }
    }
}

/// The head of a frame that has come: its kind, its fields, and where its tail is in the socket's buffer.
package struct Frame {
    package let kind: FrameKind
    /// Those beyond the kind's are 0.
    package let fields: [6 of UInt64]
    let tail: Range<Int>

    /// A field as a value of an enum; throws for a number that it does not have.
    package func value<Value: RawRepresentable<UInt64>>(
        _ place: Int,
        _ name: String
    ) throws(ReplicaError) -> Value {
        guard let value = Value(rawValue: fields[place]) else {
            throw bad("\(name) \(fields[place]), which version \(ReplicaLimits.version) lacks")
        }
        return value
    }

    package func bad(_ what: String) -> ReplicaError {
        .badFrame(kind: kind.layout.name, what: what)
    }
}
