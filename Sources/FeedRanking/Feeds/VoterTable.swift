import Synchronization

/// The devices that hold ballots, numbered as they come; none is forgotten.
struct VoterTable: ~Copyable, Sendable {
    /// The most voters a store has: about 60 bytes each, and a number of 22 bits in a ballot.
    static let limit = 4_194_304

    /// The 16 bytes a device is known by.
    struct Device: Hashable {
        var high: UInt64
        var low: UInt64
    }

    private let voters = Mutex<[Device: UInt32]>([:])

    /// The voter of a device, a new one on first sight; O(1).
    func voter(forDevice device: (UInt64, UInt64)) throws(RankingError) -> VoterID {
        try voters.withLock { (voters) throws(RankingError) -> VoterID in
            let key = Device(high: device.0, low: device.1)
            if let number = voters[key] { return VoterID(rawValue: number) }
            guard voters.count < Self.limit else { throw .tooManyVoters(limit: Self.limit) }
            let number = UInt32(voters.count)
            voters[key] = number
            return VoterID(rawValue: number)
        }
    }

    /// The voter of a device that has been seen before; O(1).
    func voter(ifKnown device: (UInt64, UInt64)) -> VoterID? {
        let key = Device(high: device.0, low: device.1)
        return voters.withLock { $0[key].map(VoterID.init(rawValue:)) }
    }
}
