public import FeedProto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// What a person is told when a call fails. The texts of `description` are for developers.

/// Reasons of failures that no service has named.
extension Reason {
    /// There is no connection to the service.
    public static var noConnection: Self { Self(rawValue: "NO_CONNECTION") }
    /// It is not known whether the change was made.
    public static var inDoubt: Self { Self(rawValue: "IN_DOUBT") }
    /// The client was closed.
    public static var closed: Self { Self(rawValue: "CLOSED") }
    /// The request does not fit into a frame.
    public static var requestTooLarge: Self { Self(rawValue: "REQUEST_TOO_LARGE") }
    /// The service has answered what the protocol does not allow.
    public static var protocolViolation: Self { Self(rawValue: "PROTOCOL_VIOLATION") }
    /// The address is none.
    public static var badAddress: Self { Self(rawValue: "BAD_ADDRESS") }
    /// The outbox of an offline feed has as many entries as it takes.
    public static var outboxFull: Self { Self(rawValue: "OUTBOX_FULL") }
    /// The outbox of an offline feed has no such entry, or its state does not allow what was asked for.
    public static var unknownEntry: Self { Self(rawValue: "UNKNOWN_ENTRY") }
    /// Another program has the file of an offline feed.
    public static var fileInUse: Self { Self(rawValue: "FILE_IN_USE") }
    /// The file of an offline feed was damaged, and is begun anew.
    public static var outboxLost: Self { Self(rawValue: "OUTBOX_LOST") }
    /// Posts of an offline feed were damaged, and the next sync brings them again.
    public static var postsDropped: Self { Self(rawValue: "POSTS_DROPPED") }
    /// The file of an offline feed cannot be read or written, or is another client's.
    public static var fileUnusable: Self { Self(rawValue: "FILE_UNUSABLE") }
}

extension FeedClientError {
    /// Why the call failed, in a word for programs: of a refusal the service's own, else one of the client.
    public var reason: Reason {
        switch self {
        case .refused(let status): status.reason
        case .inDoubt: .inDoubt
        case .badAddress: .badAddress
        case .cannotConnect, .unknownHost: .noConnection
        case .connectionLost(_, let effect): effect == .unknown ? .inDoubt : .noConnection
        case .deadlinePassed(_, let effect): effect == .unknown ? .inDoubt : .deadlineExceeded
        case .cancelled: .cancelled
        case .closed: .closed
        case .requestTooLarge: .requestTooLarge
        case .protocolViolation: .protocolViolation
        }
    }

    /// Whether the call ended because its task was cancelled, which a person is not told of.
    ///
    /// ```swift
    /// do throws(FeedClientError) { try await load() } catch where error.isCancellation {}
    /// ```
    public var isCancellation: Bool {
        if case .cancelled = self { true } else { false }
    }
}

extension FeedClientError: LocalizedError {
    /// A sentence for a person, of `Reason.texts`.
    public var errorDescription: String? { reason.text }
}

extension Reason {
    /// A sentence in plain English for a person, of ``texts``, or that it did not work if those lack it.
    public var text: String { Self.texts[self] ?? "That did not work. Please try again later." }

    /// A sentence in plain English for each reason that a person may meet, for programs to translate.
    ///
    /// What only a developer or an operator can mend is not among them.
    public static let texts: [Reason: String] = [
        // What the person wrote.
        .titleTooLong: "The title is too long.",
        .textTooLong: "The text is too long.",
        .textEmpty: "The text is too short.",
        .nameTooLong: "The name is too long.",
        .badText: "The text has characters that cannot be used.",
        .badURL: "The address of the link is not valid.",
        .badEmail: "This is not an e-mail address.",
        .passwordTooShort: "The password is too short.",
        .passwordTooLong: "The password is too long.",
        .requestTooLarge: "This is too much to send at once.",
        // Accounts.
        .emailTaken: "There is an account with this e-mail address already.",
        .badCredentials: "The password is wrong, or the e-mail address.",
        .userNotFound: "There is no such account.",
        .userSuspended: "Your account is suspended.",
        .clusterUpgrading: "The service is being updated. Please try again later.",
        .sessionExpired: "You have been signed out. Please sign in again.",
        .identityRequired: "Please sign in first.",
        .notAuthor: "Only the author may change this post.",
        .serviceOnly: "You may not do this.",
        .roleDenied: "You may not do this.",
        .tooManyAccounts: "No new accounts can be made at the moment.",
        .tooManySessions: "Nobody else can sign in at the moment. Please try again later.",
        // What is or is not there.
        .postNotFound: "This post is not there any more.",
        .feedNotFound: "This list is not there any more.",
        .feedExists: "There is a list of this name already.",
        .badFeedName: "This name cannot be used for a list.",
        .revisionMismatch: "Somebody else has changed this post. Please look at it again.",
        .pageTokenMismatch: "The list has changed. Please load it again.",
        .instanceChanged: "The list has changed. Please load it again.",
        .tooManyMarks: "You have marked as many posts as you can.",
        // The service for now.
        .rateLimited: "You are doing this too often. Please wait a moment.",
        .overloaded: "The service is busy. Please try again in a moment.",
        .readOnly: "Nothing can be saved at the moment. Please try again later.",
        .clockJumped: "Nothing can be saved at the moment. Please try again later.",
        .noRoomForPosts: "No new posts can be saved at the moment.",
        .tooManyFeeds: "No new lists can be made at the moment.",
        .tooManyConnections: "The service is busy. Please try again in a moment.",
        .tooManyChannels: "The service is busy. Please try again in a moment.",
        .tooManyWatches: "The service is busy. Please try again in a moment.",
        .tooManyDevices: "No new devices can vote at the moment.",
        .tooManyUsers: "No new people can vote at the moment.",
        .notLeader: "The service is not available at the moment. Please try again.",
        .notCaughtUp: "The service is not available at the moment. Please try again.",
        .staleReplica: "The service is not available at the moment. Please try again.",
        .draining: "The service is not available at the moment. Please try again.",
        .internal: "Something is wrong with the service. Please try again later.",
        .protocolViolation: "Something is wrong with the service. Please try again later.",
        .unknownMethod: "The service cannot do this. Please look for a new version of the app.",
        .unsupportedVersion: "The service cannot be used with this version of the app.",
        // The connection.
        .noConnection: "The service cannot be reached. Are you connected to the Internet?",
        .deadlineExceeded: "The service took too long. Please try again.",
        .inDoubt: "The connection was lost. It is not known whether this was done.",
        .cancelled: "This was cancelled.",
        .closed: "The app is not connected any more.",
        // The file of an offline copy.
        .outboxFull: "Too much is waiting to be sent. Please connect to the Internet.",
        .fileInUse: "The app is open twice.",
        .outboxLost: "The file on this device was damaged. Changes that were not sent are lost.",
        .postsDropped: "Posts on this device were damaged and are loaded again.",
        .fileUnusable: "The file on this device cannot be used.",
        .unknownEntry: "This change is not waiting any more.",
    ]
}
