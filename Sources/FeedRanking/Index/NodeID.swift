/// A node's place in its pool; 0 is none.
package struct NodeID: BitwiseCopyable, Equatable, Sendable {
    /// Counted from 1 in the order of the pool's cells.
    package let rawValue: UInt32

    /// A number that a pool gave, or 0 for none.
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// No node: the end of a chain, or an empty index.
    package static let none = NodeID(rawValue: 0)
}
