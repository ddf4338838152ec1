internal import FeedAccounts
internal import FeedProto
internal import FeedRanking

/// How a caller becomes a voter: a user or a device gets a voter number with its first ballot.
extension CallEnvironment {
    /// The voter number of the caller; nil where it has never cast a ballot.
    func voter(of caller: borrowing Caller) -> VoterID? {
        if let voter = caller.voter { return voter }
        return caller.voterKey.flatMap { store.voter(ifKnown: $0) }
    }

    /// The voter number of the caller, which is given now if the voter is new; the caller remembers it.
    ///
    /// A host may bring so many new devices. Users are not counted: accounts have limits of their own,
    /// and a service is trusted with its users.
    func becomeVoter(_ caller: inout Caller) throws(Status) -> VoterID {
        guard let key = caller.voterKey else { throw .identityRequired }
        let voter: VoterID
        if let known = store.voter(ifKnown: key) {
            voter = known
        } else {
            if case .device = key { try admitDevice(of: &caller) }
            do throws(RankingError) {
                voter = try store.voter(for: key, sink: changeLog)
            } catch {
                throw Status(error)
            }
        }
        caller.voter = voter
        return voter
    }

    /// Refuses a caller that acts for a user and is no service, and a user whom nobody knows; 0 is the
    /// caller itself.
    func checkActing(for user: UInt64, _ caller: borrowing Caller) throws(Status) {
        guard user != 0 else { return }
        guard caller.isService else { throw .serviceOnly }
        guard Self.isOfService(user) || context.accounts.account(user) != nil else {
            throw .unknownActingUser(user)
        }
    }

    /// Whether a caller may act for a user, as far as that is known without the accounts.
    @inline(__always)
    static func mayActFast(for user: UInt64, isService: Bool) -> Bool {
        user == 0 || (isOfService(user) && isService)
    }

    /// Whether a user is one of a service's own, without an account: the ids with the top bit set.
    @inline(__always)
    private static func isOfService(_ user: UInt64) -> Bool { user >> 63 == 1 }

    /// Counts a new device of the caller's host.
    private func admitDevice(of caller: inout Caller) throws(Status) {
        if let wait = context.devices.admit(caller.identity, standing(of: caller)) {
            throw .tooManyDevices(limit: context.limits.newDevicesPerPeerMinute, wait: wait)
        }
        caller.hasBroughtDevice = true
    }

    private func standing(of caller: borrowing Caller) -> DeviceAdmission.Standing {
        if caller.hasBroughtDevice { return .repeated }
        return caller.age >= DeviceAdmission.establishedAge ? .established : .fresh
    }
}
