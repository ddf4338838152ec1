/// How often each operation occurs, as `--mix` names it.
package struct Mix: Sendable, Equatable {
    /// The weights, by the operation's raw value; their sum is above 0.
    package let weights: [UInt32]
    private let sum: UInt32
    /// The operation of a mix that has only one, so that nothing needs to be drawn.
    private let only: Operation?

    /// Only votes.
    package static let vote = Mix([.vote: 100])
    /// Mostly reads, as a feed is used: pages 90, votes 9, new posts 1.
    package static let feed = Mix([.page: 90, .vote: 9, .create: 1])

    /// A mix of `weights`, of which one must be above 0.
    package init(_ weights: [Operation: UInt32]) {
        self.weights = Operation.allCases.map { weights[$0] ?? 0 }
        sum = self.weights.reduce(0, +)
        precondition(sum > 0, "A mix needs an operation.")
        let used = Operation.allCases.filter { weights[$0, default: 0] > 0 }
        only = used.count == 1 ? used[0] : nil
    }

    /// The operations that occur.
    package var operations: [Operation] {
        Operation.allCases.filter { weights[Int($0.rawValue)] > 0 }
    }

    /// Whether nothing but votes occurs.
    @inline(__always)
    package var hasOnlyVotes: Bool { only == .vote }

    /// The next operation of `stream`.
    @inline(__always)
    package func next(_ stream: inout RandomStream) -> Operation {
        only ?? draw(&stream)
    }

    private func draw(_ stream: inout RandomStream) -> Operation {
        var remaining = UInt32(stream.nextIndex(below: Int(sum)))
        for operation in Operation.allCases {
            let weight = weights[Int(operation.rawValue)]
            if remaining < weight { return operation }
            remaining -= weight
        }
        preconditionFailure("A draw below the sum of the weights falls on an operation.")
    }
}

extension Mix: CustomStringConvertible {
    /// The text that `--mix` takes.
    package var description: String {
        operations.map { "\($0.name)=\(weights[Int($0.rawValue)])" }.joined(separator: ",")
    }

    /// The mix that `text` names (a preset, or `vote=95,page=5`), or nil.
    package init?(parsing text: String) {
        switch text {
        case "vote": self = .vote
        case "feed": self = .feed
        default:
            var weights: [Operation: UInt32] = [:]
            for item in text.split(whereSeparator: { $0 == "," || $0 == " " }) {
                let parts = item.split(separator: "=", omittingEmptySubsequences: false)
                guard parts.count == 2, let operation = Operation(name: parts[0]),
                    let weight = UInt32(parts[1]), weight <= Self.maximumWeight,
                    weights.updateValue(weight, forKey: operation) == nil
                else { return nil }
            }
            guard weights.values.contains(where: { $0 > 0 }) else { return nil }
            self.init(weights)
        }
    }

    private static let maximumWeight: UInt32 = 1_000_000
}

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
    package var isChange: Bool { self == .vote || self == .create }

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
