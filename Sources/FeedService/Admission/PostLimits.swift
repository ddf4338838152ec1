/// Who may create posts, how many in an hour, and how much memory all posts may take.
///
/// The limits of an hour hold for callers from other machines, and not for services; 0 is no limit.
package struct PostLimits: Sendable, Equatable {
    /// Those who may create posts, beside services and local callers.
    package enum Creators: String, CaseIterable, Sendable {
        /// Every caller that may change something.
        case anyone
        /// Users: those who have signed in.
        case users
        /// Nobody.
        case services
    }

    /// The limits of an hour for a host, a device that is no user's, and a user.
    package struct Hourly: Sendable, Equatable {
        /// What all callers of a host create.
        package var host: Int
        /// What a device creates that nobody has signed in on.
        package var device: Int
        /// What a user creates, on all devices.
        package var user: Int

        /// So many for each.
        package init(host: Int, device: Int, user: Int) {
            self.host = host
            self.device = device
            self.user = user
        }
    }

    /// Who may create posts.
    package var creators = Creators.anyone
    /// The posts of an hour: an office or a school behind one address posts one a second.
    package var countPerHour = Hourly(host: 3_600, device: 200, user: 200)
    /// The bytes of texts of an hour, those of edits too: over 9 KiB a post of a host, and 20 of a person.
    package var bytesPerHour = Hourly(host: 32 << 20, device: 4 << 20, user: 4 << 20)
    /// The memory that all posts may take; 0 is no limit.
    ///
    /// The program's default is half of the machine's.
    package var memoryByteCount = 0

    /// The limits by default.
    package init() {}
}
