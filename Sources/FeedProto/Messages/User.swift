/// An author.
public struct User: Equatable, Sendable {
    /// The account; 0 means a name without an account.
    public var id: UInt64
    /// The name to show.
    public var displayName: String

    /// An author, by default without an account.
    public init(id: UInt64 = 0, displayName: String) {
        self.id = id
        self.displayName = displayName
    }
}
