package import FeedProto

/// The numbers of a client's changes on its channel, and what the service remembers of them.
///
/// The numbers only grow, also where the service has forgotten the channel: it takes any number
/// that is new, and a restored state may remember old ones.
package struct SequenceNumbers: Sendable {
    /// Whether changes take numbers on the current connection.
    package private(set) var isOffered = false

    private let hasIdentity: Bool
    private var next: UInt64 = 1
    private var window: UInt64 = 1
    private var instanceID: UInt64?
    /// A Hello was sent since the last answer to one.
    private var hasLostGreeting = false

    /// The numbers of a client, which needs an id to have any.
    package init(hasIdentity: Bool) {
        self.hasIdentity = hasIdentity
    }

    /// A Hello was sent and not answered.
    ///
    /// It may have made the channel anew, which the next Hello then finds without calls.
    package mutating func lostGreeting() {
        hasLostGreeting = true
    }

    /// Adopts what a service answers to Hello; returns why it does not know whether changes without
    /// an answer were executed, or nil where it can.
    package mutating func resume(_ hello: HelloResponse) -> InDoubtCause? {
        let isKnown = hello.isClientKnown && !(hasLostGreeting && hello.lastSequence == 0)
        defer {
            instanceID = hello.instanceID
            hasLostGreeting = false
        }
        isOffered = hasIdentity && hello.numbersChanges
        window = max(1, UInt64(hello.limits?.sequenceWindow ?? 1))
        next = max(next, min(hello.lastSequence, Self.highest) + 1)
        guard let instanceID else { return nil }
        guard instanceID == hello.instanceID else { return .stateReplaced }
        return isOffered && isKnown ? nil : .channelForgotten
    }

    /// Whether another change may be sent while the change of number `oldest` has no answer: the
    /// service remembers a window of numbers.
    package func hasRoom(oldest: UInt64?) -> Bool {
        guard let oldest else { return true }
        return next < oldest + window
    }

    /// The highest number that a client believes a service to remember, far from an overflow.
    private static var highest: UInt64 { .max >> 1 }

    /// The number of the next change.
    package mutating func take() -> UInt64 {
        defer { next += 1 }
        return next
    }
}

extension HelloResponse {
    /// Whether the service takes numbers: at once, or once it has room for the channel.
    fileprivate var numbersChanges: Bool {
        capabilities.contains(.exactlyOnce) || channelStatus != nil
    }
}
