import FeedProto

/// What a vote asks for, with its number on the wire.
package enum Ballot: UInt8, Sendable, CaseIterable {
    case up = 1
    case down = 2
    /// The end of the voter's vote.
    case clear = 3

    /// The ballot of a run with voters: of 16 votes 10 are up, 4 are down and 2 take a vote back.
    package static func next(_ stream: inout RandomStream) -> Ballot {
        switch stream.nextIndex(below: 16) {
        case 0..<10: .up
        case 10..<14: .down
        default: .clear
        }
    }
}

/// The ballots of which one stands, as far as a run knows.
package struct BallotSet: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let none = BallotSet(rawValue: 1 << 0)
    package static let up = BallotSet(rawValue: 1 << 1)
    package static let down = BallotSet(rawValue: 1 << 2)

    /// The bytes of a voter's sets on that many posts: four bits each.
    package static func byteCount(postCount: Int) -> Int { (postCount + 1) / 2 }

    /// The ballot that stands once `ballot` was executed.
    package init(_ ballot: Ballot) {
        switch ballot {
        case .up: self = .up
        case .down: self = .down
        case .clear: self = .none
        }
    }

    /// The ballot that an answer says stands; empty for a number that no service sends.
    package init(standing number: UInt64) {
        switch number {
        case 0: self = .none
        case 1: self = .up
        case 2: self = .down
        default: self = []
        }
    }
}

/// The users for whom one connection votes: each user has one connection, so the calls of a user
/// are executed in their order.
package struct VoterShare: Sendable, Equatable {
    /// The most users of a connection: a request in flight names its user in 16 bits.
    package static let mostVoters = 1 << 16

    package let count: Int
    private let first: Int
    private let step: Int

    /// The share of connection number `client` of `voterCount` users, dealt round robin.
    package init(voterCount: Int, client: Int, clientCount: Int) {
        first = client
        step = clientCount
        count = (voterCount + clientCount - 1 - client) / clientCount
    }

    package static func largest(voterCount: Int, clientCount: Int) -> Int {
        (voterCount + clientCount - 1) / clientCount
    }

    /// The user of a number: a service's own, which has the top bit set and no account.
    package func userID(_ voter: UInt16) -> UInt64 {
        UserID.ofService(UInt64(first + Int(voter) * step)).rawValue
    }
}
