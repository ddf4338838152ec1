internal import ArgumentParser
internal import FeedProto

/// The orders as arguments of the command line.
enum OrderArgument: String, CaseIterable, ExpressibleByArgument {
    case top
    case new
    case old
    case hot
    case best
    case controversial
    case rising
    case discussed

    /// The order of the contract.
    var order: Order {
        switch self {
        case .top: .top
        case .new: .new
        case .old: .old
        case .hot: .hot
        case .best: .best
        case .controversial: .controversial
        case .rising: .rising
        case .discussed: .discussed
        }
    }
}

/// The windows as arguments of the command line.
enum WindowArgument: String, CaseIterable, ExpressibleByArgument {
    case hour
    case day
    case week
    case month
    case year

    /// The window of the contract.
    var window: Window {
        switch self {
        case .hour: .hour
        case .day: .day
        case .week: .week
        case .month: .month
        case .year: .year
        }
    }
}

/// The marks as arguments of the command line.
enum MarkArgument: String, CaseIterable, ExpressibleByArgument {
    case read
    case unread
    case dismissed
    case restored

    /// The mark of the contract.
    var mark: Mark {
        switch self {
        case .read: .read
        case .unread: .unread
        case .dismissed: .dismissed
        case .restored: .restored
        }
    }
}

/// Whose votes count in a feed, as arguments of the command line.
enum VotersArgument: String, CaseIterable, ExpressibleByArgument {
    case anyone
    case users
    case devices

    /// What a vote means: one of many where anyone votes, else the voter's ballot.
    var voteMode: VoteMode { self == .anyone ? .tally : .ballot }

    /// The voters of the contract; unspecified where votes are tallies.
    var voters: Voters {
        switch self {
        case .anyone: .unspecified
        case .users: .users
        case .devices: .devices
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
