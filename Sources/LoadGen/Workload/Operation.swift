/// What a request asks the service to do, as `--mix` names it.
package enum Operation: UInt8, Sendable, CaseIterable {
    /// One vote up.
    case vote
    /// One new post.
    case create
    /// The first page of the feed, best first.
    case list
    /// The page after the one this client saw last, or a first page where there is none.
    case page
    /// One post by its id.
    case get

    /// Whether it changes the service's state, so that executing it twice is not the same as once.
    package var isMutation: Bool { self == .vote || self == .create }

    /// The name in `--mix`, in reports and in file names.
    package var name: String {
        switch self {
        case .vote: "vote"
        case .create: "create"
        case .list: "list"
        case .page: "page"
        case .get: "get"
        }
    }

    /// The operation that `name` names, or nil.
    package init?(name: some StringProtocol) {
        guard let operation = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = operation
    }
}
