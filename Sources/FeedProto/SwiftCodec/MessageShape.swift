/// What a message has on the wire, for the codec in Swift.
package protocol MessageShape {
    static var fieldCount: Int { get }
    /// The bytes of protobuf-c's struct: both codecs count the same memory, so that they refuse the same
    /// frames.
    static var structByteCount: Int { get }
    /// The field at a place in the order of the numbers.
    static func field(_ index: Int) -> FieldShape
}

/// A message of the library that the codec in Swift reads and writes.
protocol SwiftMessage: MessageShape {
    /// Copies everything out of a node.
    init(_ node: Int, in tree: borrowing MessageTree) throws(MessageError)

    /// Writes the fields in the order of their numbers.
    func write(to writer: inout MessageWriter)
}

/// A field of a message.
package struct FieldShape {
    package enum Kind {
        case uint32
        /// An enum, too.
        case int32
        /// An int64, too.
        case uint64
        case bool
        /// A double, too.
        case fixed64
        /// A text, too.
        case bytes
        case message(any MessageShape.Type)
    }

    package enum Label {
        case single
        case repeated
        /// One of the message's oneof.
        case member
    }

    package let number: UInt32
    package let kind: Kind
    package let label: Label

    init(_ number: UInt32, _ kind: Kind, _ label: Label = .single) {
        self.number = number
        self.kind = kind
        self.label = label
    }
}

extension MessageShape {
    /// The place of the field with a number; nil where there is none.
    ///
    /// O(log(fields)).
    static func index(of number: UInt32) -> Int? {
        var candidates = 0..<fieldCount
        while !candidates.isEmpty {
            let middle = candidates.lowerBound + candidates.count / 2
            let found = field(middle).number
            if found == number { return middle }
            candidates =
                found < number
                ? middle + 1..<candidates.upperBound : candidates.lowerBound..<middle
        }
        return nil
    }
}

/// A message without fields.
package enum EmptyMessage: MessageShape {
    package static var fieldCount: Int { 0 }
    package static var structByteCount: Int { 24 }
    package static func field(_ index: Int) -> FieldShape {
        preconditionFailure("It has no field.")
    }
}
