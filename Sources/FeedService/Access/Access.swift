/// The roles that may make a call.
package enum Access: Sendable {
    /// Every caller.
    case everyone
    /// Devices, users and services: the call is about the posts that one viewer has seen.
    case viewers
    /// Users and services: the call is about an account or its posts.
    case users
    /// Services only.
    case services

    /// Whether callers of this role may make the call.
    package func admits(_ role: Role) -> Bool {
        switch (self, role) {
        case (.everyone, _): true
        case (.viewers, .device), (.viewers, .user), (.viewers, .service): true
        case (.users, .user), (.users, .service): true
        case (.services, .service): true
        case (.viewers, _), (.users, _), (.services, _): false
        }
    }
}
