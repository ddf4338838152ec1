package import FeedProto

/// The sequences of a client's changes on its channel, and what the service remembers of them.
///
/// The sequences only grow, also if the service has forgotten the channel: it takes any sequence
/// that is new, and a restored state may remember old ones.
package struct SequenceNumbers: Sendable {
    /// Whether changes take sequences on the current connection.
    package private(set) var isOffered = false

    private let hasIdentity: Bool
    private var next: UInt64 = 1
    private var window: UInt64 = 1
    private var instanceID: UInt64?
    /// The number of the channel, as the last answered Hello has it; 0 if that has none.
    private var channelNumber: UInt64 = 0
    /// A Hello was sent since the last answer to one.
    private var hasLostHello = false

    /// The sequences of a client, which needs an id to have any.
    package init(hasIdentity: Bool) { self.hasIdentity = hasIdentity }

    /// A Hello was sent and not answered.
    ///
    /// It may have made the channel anew, which the next Hello then finds without calls; the channel's number
    /// tells it from the one of before.
    package mutating func lostHello() { hasLostHello = true }

    /// Adopts what a service answers to Hello; returns why it does not know whether changes without
    /// an answer were executed, or nil if it can.
    package mutating func resume(_ hello: HelloResponse) -> InDoubtCause? {
        let isNumbered = channelNumber != 0 && hello.channelNumber != 0
        let isChannelKnown =
            isNumbered
            ? hello.isClientKnown && hello.channelNumber == channelNumber
            : hello.knowsChannel(hasLostHello: hasLostHello)
        defer {
            instanceID = hello.instanceID
            channelNumber = hello.channelNumber
            hasLostHello = false
        }
        isOffered = hasIdentity && hello.takesSequences
        window = max(1, UInt64(hello.limits?.sequenceWindow ?? 1))
        next = max(next, min(hello.lastSequence, Self.highest) + 1)
        guard let instanceID else { return nil }
        guard instanceID == hello.instanceID else { return .stateReplaced }
        return isOffered && isChannelKnown ? nil : .channelForgotten
    }

    /// Whether another change may be sent while the change of sequence `oldest` has no answer: the
    /// service remembers a window of sequences.
    package func hasRoom(oldest: UInt64?) -> Bool {
        guard let oldest else { return true }
        return next < oldest + window
    }

    /// The highest sequence that a client believes a service to remember, far from an overflow.
    private static var highest: UInt64 { .max >> 1 }

    package mutating func take() -> UInt64 {
        defer { next += 1 }
        return next
    }
}

extension HelloResponse {
    /// Whether the service takes sequences: at once, or once it has room for the channel.
    package var takesSequences: Bool {
        capabilities.contains(.exactlyOnce) || channelStatus != nil
    }

    /// Whether the service knows the channel, which the wire calls a known client.
    ///
    /// If an earlier Hello was lost, it may have made the channel: one on which nothing was executed may be
    /// new then, if its number is not known from before.
    package func knowsChannel(hasLostHello: Bool) -> Bool {
        isClientKnown && !(hasLostHello && lastSequence == 0)
    }
}

/// A change with a sequence that its caller has chosen and kept, so that another process can send it
/// again.
package struct NumberedChange: Sendable {
    /// The change; one that takes a sequence.
    package let request: Request
    /// Its sequence on the channel of the client, above 0.
    package let sequence: UInt64
    /// Whether it may have left before: then it ends in doubt if the service no longer knows.
    package let mayHaveLeft: Bool

    package init(_ request: Request, sequence: UInt64, mayHaveLeft: Bool) {
        precondition(request.takesSequence && sequence > 0, "Only changes have sequences above 0.")
        self.request = request
        self.sequence = sequence
        self.mayHaveLeft = mayHaveLeft
    }
}
