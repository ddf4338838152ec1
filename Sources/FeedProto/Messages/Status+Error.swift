extension Status: Error {}

extension Status: CustomStringConvertible {
    /// The code, the reason and the sentence.
    public var description: String { "\(code) / \(reason): \(message)" }
}
