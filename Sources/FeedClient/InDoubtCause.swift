/// Why it is unknown whether a change was executed, though the service was asked again.
public enum InDoubtCause: Sendable, Hashable {
    /// The service's state is another one: fresh, or restored from a backup.
    case stateReplaced
    /// The service no longer remembers the client's channel.
    case channelForgotten
    /// Another client has taken over the client id and the channel.
    case channelTaken
    /// The service remembers the channel, but not sequences as old as the change's.
    case sequenceExpired
    /// The service remembers another change of the same sequence.
    case sequenceReused
}

extension InDoubtCause: CustomStringConvertible {
    /// The cause as a sentence.
    public var description: String {
        switch self {
        case .stateReplaced: "The service's state was replaced."
        case .channelForgotten: "The service has forgotten the client's channel."
        case .channelTaken: "Another client uses the same client id and channel."
        case .sequenceExpired: "The service has forgotten the number of the change."
        case .sequenceReused: "The service knows another change of the same number."
        }
    }
}
