/// A node's place in its pool; 0 is none.
package struct NodeID: BitwiseCopyable, Equatable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let none = NodeID(rawValue: 0)
}
