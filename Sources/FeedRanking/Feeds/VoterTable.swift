import Synchronization

/// The devices that hold ballots, numbered as they come; none is forgotten.
///
/// Once the table is full, a device that it does not know can cast no ballot (`tooManyVoters`);
/// those it knows go on as before, and tallies need no voter.
struct VoterTable: ~Copyable, Sendable {
    private let voters = Mutex<[Device16: UInt32]>([:])

    /// The voter of a device, a new one on first sight; O(1).
    func voter(
        forDevice device: (UInt64, UInt64),
        _ log: EffectLog
    ) throws(RankingError) -> VoterID {
        try voters.withLock { (voters) throws(RankingError) -> VoterID in
            let key = Device16(high: device.0, low: device.1)
            if let number = voters[key] { return VoterID(rawValue: number) }
            let limit = RankingLimits.maximumVoterCount
            guard voters.count < limit else { throw .tooManyVoters(limit: limit) }
            let number = UInt32(voters.count)
            voters[key] = number
            log.append(VoterID(rawValue: number), key)
            return VoterID(rawValue: number)
        }
    }

    /// The voter of a device that has been seen before; O(1).
    func voter(ifKnown device: (UInt64, UInt64)) -> VoterID? {
        let key = Device16(high: device.0, low: device.1)
        return voters.withLock { $0[key].map(VoterID.init(rawValue:)) }
    }
}
