internal import FeedProto

/// The refusals of callers whose role may not make a call.
extension Status {
    /// The refusal of a call that the authorisation table does not open to the caller.
    static func denied(_ method: Method) -> Status {
        switch method.access {
        case .everyone: preconditionFailure("Every caller may call \(method.name).")
        case .viewers: .identityRequired(method, "say Hello with a client_id, or sign in, first")
        case .users: .identityRequired(method, "sign in first")
        case .services: .serviceOnly
        }
    }

    /// The key of a Hello is not one of the service's.
    static var badServiceKey: Status {
        Status(
            code: .unauthenticated,
            reason: .badCredentials,
            message: "The service_key is not a key of this service."
        )
    }

    /// A filter looks at marks, and a caller without identity has none.
    static func viewerRequired(field: String) -> Status {
        Status(
            code: .unauthenticated,
            reason: .identityRequired,
            message: "\(field) needs a viewer: say Hello with a client_id, or sign in, first."
        )
    }

    private static func identityRequired(_ method: Method, _ remedy: String) -> Status {
        Status(
            code: .unauthenticated,
            reason: .identityRequired,
            message: "\(method.name) needs an identity: \(remedy)."
        )
    }
}
