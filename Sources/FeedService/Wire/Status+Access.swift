internal import FeedProto

/// The refusals of callers whose role may not make a call.
extension Status {
    /// The refusal of a call that the authorisation table does not open to the caller.
    static func denied(_ method: Method, _ role: Role) -> Status {
        switch role {
        case .reader, .service, .operator: .roleDenied(method, "the key's role is \(role.rawValue)")
        case .anonymous, .device, .user:
            switch method.access {
            case .viewers:
                .identityRequired(method, "say Hello with a client_id, or sign in, first")
            case .users: .identityRequired(method, "sign in first")
            case .services: .serviceOnly
            case .servicesAndOperators:
                .roleDenied(method, "say Hello with the key of a service or an operator")
            case .operators: .roleDenied(method, "say Hello with the key of an operator")
            case .everyone, .reading, .changing:
                preconditionFailure("Every caller without a key may call \(method.name).")
            }
        case .local: preconditionFailure("A local caller may call \(method.name).")
        }
    }

    private static func roleDenied(_ method: Method, _ cause: String) -> Status {
        Status(
            code: .permissionDenied,
            reason: .roleDenied,
            message: "\(method.name) is not open to this caller: \(cause)."
        )
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
