/// The time at which the bucket of each host will be full, for a bounded number of hosts.
///
/// Where the table is full, a hand goes round it, as in the clock algorithm of page replacement. It
/// looks at a few hosts for each new one, and the new one takes the place of one whose bucket is
/// full, or else of the one whose bucket lacks the fewest tokens. So a new host costs a few looks
/// once the table is full, and among the hosts that are looked at, those that have used up their
/// tokens are kept.
package struct HostTable: Sendable {
    private struct Entry {
        var host: ClientIdentity
        var fullTime: UInt64
    }

    /// The hosts that are kept at once.
    package static let maximumCount = 65_536
    /// The hosts that the hand looks at for a new one.
    package static let lookLimit = 8

    private var entries: [Entry] = []
    /// The place of each host among the entries.
    private var places: [ClientIdentity: Int] = [:]
    /// The entry that the hand looks at next.
    private var hand = 0
    /// How often the hand has looked at an entry.
    private(set) var lookCount = 0

    /// The number of hosts.
    var count: Int { entries.count }

    /// The time at which a host's bucket will be full; nil for a host that is not kept.
    subscript(_ host: ClientIdentity) -> UInt64? { places[host].map { entries[$0].fullTime } }

    /// Keeps a host, in the place of another one where the table is full; O(1) on average.
    mutating func set(_ host: ClientIdentity, _ fullTime: UInt64, now: UInt64) {
        let entry = Entry(host: host, fullTime: fullTime)
        if let place = places[host] {
            entries[place] = entry
        } else if entries.count < Self.maximumCount {
            places[host] = entries.count
            entries.append(entry)
        } else {
            let place = placeToGive(now)
            places[entries[place].host] = nil
            places[host] = place
            entries[place] = entry
        }
    }

    /// The place of the next host whose bucket is full, or of the fullest of a few; O(1).
    private mutating func placeToGive(_ now: UInt64) -> Int {
        var fullest = hand
        for _ in 0..<Self.lookLimit {
            let place = hand
            hand = (hand + 1) % entries.count
            lookCount += 1
            if entries[place].fullTime < entries[fullest].fullTime { fullest = place }
            guard entries[fullest].fullTime > now else { break }
        }
        return fullest
    }
}
