/// An author.
public struct User: Equatable, Sendable {
    /// The account; 0 is a name without one.
    public var id: UInt64
    /// The name to show.
    public var displayName: String

    /// By default a name without an account.
    public init(id: UInt64 = 0, displayName: String) {
        self.id = id
        self.displayName = displayName
    }
}
