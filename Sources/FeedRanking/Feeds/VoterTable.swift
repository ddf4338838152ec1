import FeedConcurrency

/// The devices and users that have ballots, numbered in the order of their first ballots.
///
/// Devices count from 0, users from `VoterID.firstUser`. Once the table of devices is full, a new
/// device can cast no ballot (`tooManyVoters`), and so it is with users (`tooManyUsers`). Known voters
/// still can, and tallies need no voter. No voter is forgotten. The lookup of a known user takes no
/// lock, because each vote that a service casts for a user needs one.
struct VoterTable: ~Copyable, Sendable {
    struct State {
        var devices: [Device16: UInt32] = [:]
        var nextDevice: UInt32 = 0
        var nextUser = VoterID.firstUser
    }

    private let state = Lock(State())
    /// Changed under the lock, read without it.
    private let users = UserNumbers()

    /// The number of a voter, a new one on first sight; O(1).
    func voter(_ key: VoterKey, _ sink: some ChangeSink) throws(RankingError) -> VoterID {
        switch key {
        case .device(let device): try voter(device, sink)
        case .user(let user): try voter(user: user, sink)
        }
    }

    /// The number of a voter that has been seen before; O(1), for users without a lock.
    @inline(__always)
    func voter(ifKnown key: VoterKey) -> VoterID? {
        switch key {
        case .device(let device):
            state.withLock { $0.devices[device].map(VoterID.init(rawValue:)) }
        case .user(let user): users.number(of: user).map(VoterID.init(rawValue:))
        }
    }

    /// Prefetches the number of a user that is looked up soon; O(1), without a lock.
    @inline(__always)
    func prefetch(user: UInt64) { users.prefetch(user) }

    private func voter(
        _ device: Device16,
        _ sink: some ChangeSink
    ) throws(RankingError) -> VoterID {
        try state.withLock { (state) throws(RankingError) -> VoterID in
            if let number = state.devices[device] { return VoterID(rawValue: number) }
            let limit = RankingLimits.maximumVoterCount
            guard state.nextDevice < limit else { throw .tooManyVoters(limit: limit) }
            let voter = VoterID(rawValue: state.nextDevice)
            state.devices[device] = voter.rawValue
            state.nextDevice += 1
            sink.append(voter, device)
            return voter
        }
    }

    private func voter(user: UInt64, _ sink: some ChangeSink) throws(RankingError) -> VoterID {
        if let number = users.number(of: user) { return VoterID(rawValue: number) }
        return try state.withLock { (state) throws(RankingError) -> VoterID in
            if let number = users.number(of: user) { return VoterID(rawValue: number) }
            let limit = RankingLimits.maximumUserCount
            guard state.nextUser - VoterID.firstUser < limit else {
                throw .tooManyUsers(limit: limit)
            }
            let voter = VoterID(rawValue: state.nextUser)
            // The sink comes first: a reader of the table may log a ballot of the voter at once.
            sink.append(voter, user: user)
            users.insert(user, voter.rawValue)
            state.nextUser += 1
            return voter
        }
    }

    /// Puts a device of an earlier run back; the numbers may come in any order.
    func restore(_ voter: VoterID, _ device: Device16) throws(RecoveryError) {
        try state.withLock { (state) throws(RecoveryError) -> Void in
            guard !voter.isUser, voter.isAssignable,
                state.devices[device] ?? voter.rawValue == voter.rawValue
            else { throw .badVoter(voter) }
            state.devices[device] = voter.rawValue
            state.nextDevice = max(state.nextDevice, voter.rawValue + 1)
        }
    }

    /// Puts a user of an earlier run back; the numbers may come in any order.
    func restore(_ voter: VoterID, user: UInt64) throws(RecoveryError) {
        try state.withLock { (state) throws(RecoveryError) -> Void in
            let known = users.number(of: user)
            guard user != 0, voter.isUser, voter.isAssignable,
                known ?? voter.rawValue == voter.rawValue
            else { throw .badVoter(voter) }
            if known == nil { users.insert(user, voter.rawValue) }
            state.nextUser = max(state.nextUser, voter.rawValue + 1)
        }
    }

    /// The voters by their numbers; O(voters).
    func keys() -> [VoterID: VoterKey] {
        state.withLock { state in
            var keys: [VoterID: VoterKey] = [:]
            keys.reserveCapacity(state.devices.count)
            for (device, number) in state.devices {
                keys[VoterID(rawValue: number)] = .device(device)
            }
            users.forEachUser { user, number in keys[VoterID(rawValue: number)] = .user(user) }
            return keys
        }
    }
}
