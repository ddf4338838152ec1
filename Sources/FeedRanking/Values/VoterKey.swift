/// The identity behind a ballot: a user or a device.
///
/// Nothing merges the two. Who signs in votes as the user from then on, and the ballots of the device
/// stay its own.
package enum VoterKey: Hashable, Sendable {
    /// A device of 16 bytes.
    case device(Device16)
    /// A user's id, above 0.
    case user(UInt64)
}
