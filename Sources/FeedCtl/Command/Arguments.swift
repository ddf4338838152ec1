internal import ArgumentParser
internal import FeedProto

/// The orders as arguments of the command line.
enum OrderArgument: String, CaseIterable, ExpressibleByArgument {
    case top
    case new
    case old
    case hot

    /// The order of the contract.
    var order: Order {
        switch self {
        case .top: .top
        case .new: .new
        case .old: .old
        case .hot: .hot
        }
    }
}

/// The votes as arguments of the command line.
enum VoteArgument: String, CaseIterable, ExpressibleByArgument {
    case up
    case down
    case clear

    /// The direction of the contract.
    var direction: VoteDirection {
        switch self {
        case .up: .up
        case .down: .down
        case .clear: .clear
        }
    }
}
