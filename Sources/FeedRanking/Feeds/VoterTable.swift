import FeedConcurrency

/// The devices that have ballots, numbered in the order of their first ballots.
///
/// Once the table is full, a new device can cast no ballot (`tooManyVoters`). Known devices still
/// can, and tallies need no voter. No device is forgotten.
struct VoterTable: ~Copyable, Sendable {
    /// What the lock keeps.
    struct State {
        var numbers: [Device16: UInt32] = [:]
        /// The number of the next new device.
        var next = 0
    }

    private let state = Lock(State())

    /// The voter of a device, a new one on first sight; O(1).
    func voter(
        forDevice device: (UInt64, UInt64),
        _ sink: some ChangeSink
    ) throws(RankingError) -> VoterID {
        try state.withLock { (state) throws(RankingError) -> VoterID in
            let key = Device16(high: device.0, low: device.1)
            if let number = state.numbers[key] { return VoterID(rawValue: number) }
            let limit = RankingLimits.maximumVoterCount
            guard state.next < limit else { throw .tooManyVoters(limit: limit) }
            let voter = VoterID(rawValue: UInt32(state.next))
            state.numbers[key] = voter.rawValue
            state.next += 1
            sink.append(voter, key)
            return voter
        }
    }

    /// The voter of a device that has been seen before; O(1).
    func voter(ifKnown device: (UInt64, UInt64)) -> VoterID? {
        let key = Device16(high: device.0, low: device.1)
        return state.withLock { $0.numbers[key].map(VoterID.init(rawValue:)) }
    }

    /// Puts a voter of an earlier run back; the numbers may come in any order.
    func restore(_ voter: VoterID, _ device: Device16) throws(RecoveryError) {
        try state.withLock { (state) throws(RecoveryError) -> Void in
            guard voter.rawValue < RankingLimits.maximumVoterCount,
                state.numbers[device] ?? voter.rawValue == voter.rawValue
            else { throw .badVoter(voter) }
            state.numbers[device] = voter.rawValue
            state.next = max(state.next, Int(voter.rawValue) + 1)
        }
    }

    /// The devices by their voters' numbers; O(voters).
    func devices() -> [Device16?] {
        state.withLock { state in
            var devices = [Device16?](repeating: nil, count: state.next)
            for (device, number) in state.numbers { devices[Int(number)] = device }
            return devices
        }
    }
}
