internal import FeedProto
internal import FeedRanking

/// How a caller becomes a voter: a device gets a voter number with its first ballot.
extension CallEnvironment {
    /// The voter number of the caller's device; nil where the device has never cast a ballot.
    func voter(of caller: borrowing Caller) -> VoterID? {
        if let voter = caller.voter { return voter }
        return caller.device.flatMap { store.voter(ifKnown: ($0.high, $0.low)) }
    }

    /// The voter number of the caller's device, which is given now if the device is new; the
    /// caller remembers it.
    func becomeVoter(_ caller: inout Caller) throws(Status) -> VoterID {
        guard let device = caller.device else { throw .identityRequired }
        let voter: VoterID
        if let known = store.voter(ifKnown: (device.high, device.low)) {
            voter = known
        } else {
            if let wait = context.devices.admit(ClientHost(caller.host), standing(of: caller)) {
                throw .tooManyDevices(limit: context.limits.newDevicesPerPeerMinute, wait: wait)
            }
            caller.hasBroughtDevice = true
            do throws(RankingError) {
                voter = try store.voter(forDevice: (device.high, device.low), sink: changeLog)
            } catch {
                throw Status(error)
            }
        }
        caller.voter = voter
        return voter
    }

    private func standing(of caller: borrowing Caller) -> DeviceAdmission.Standing {
        if caller.hasBroughtDevice { return .repeated }
        return caller.age >= DeviceAdmission.establishedAge ? .established : .fresh
    }
}
