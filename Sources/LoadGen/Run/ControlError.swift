import FeedProto
import FeedTransport

/// Why a call outside the load has no answer to use.
enum ControlError: Error, Equatable, CustomStringConvertible {
    /// The connection never opened.
    case unreachable(TransportError)
    /// The service answered with an error.
    case refused(Status)
    /// The connection ended, or no answer came in time.
    case lost
    /// The answer is not one the protocol allows here.
    case unexpected
    /// The service forgot the calls of this run, or is another one: a call sent again might be
    /// executed twice.
    case forgotten

    /// The cause in a sentence.
    var description: String {
        switch self {
        case .unreachable(let error): error.description
        case .refused(let status): status.description
        case .lost: "The connection ended or no answer came in time."
        case .unexpected: "The answer is not one that the protocol allows."
        case .forgotten:
            "The service came back and no longer knows which calls of this run it had executed."
        }
    }
}
