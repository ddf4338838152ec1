/// The roles that may make a call.
package enum Access: Sendable {
    /// Every caller.
    case everyone
    /// All but operators: the call reads posts.
    case reading
    /// All but readers and operators: the call changes something.
    case changing
    /// Devices, users and services: the call is about the posts that one viewer has seen.
    case viewers
    /// Users and services: the call is about an account or its posts.
    case users
    /// Services only.
    case services
    /// Services and operators: the call mends what others have done.
    case servicesAndOperators
    /// Operators only: the call is about the service's own running.
    case operators

    /// Whether callers of this role may make the call.
    package func admits(_ role: Role) -> Bool {
        switch role {
        case .anonymous:
            switch self {
            case .everyone, .reading, .changing: true
            case .viewers, .users, .services, .servicesAndOperators, .operators: false
            }
        case .device:
            switch self {
            case .everyone, .reading, .changing, .viewers: true
            case .users, .services, .servicesAndOperators, .operators: false
            }
        case .user:
            switch self {
            case .everyone, .reading, .changing, .viewers, .users: true
            case .services, .servicesAndOperators, .operators: false
            }
        case .reader:
            switch self {
            case .everyone, .reading: true
            case .changing, .viewers, .users, .services, .servicesAndOperators, .operators: false
            }
        case .service:
            switch self {
            case .everyone, .reading, .changing, .viewers, .users, .services,
                .servicesAndOperators:
                true
            case .operators: false
            }
        case .operator:
            switch self {
            case .everyone, .servicesAndOperators, .operators: true
            case .reading, .changing, .viewers, .users, .services: false
            }
        case .local: true
        }
    }
}
