import FeedLog
import FeedRanking

/// A row of `channels`: a client's channel and the outcomes of its latest calls.
struct ChannelRow: StateRow {
    static let table = StateTable.channels
    static let unfit = "the outcomes are no ring"

    var channel = ChannelState(number: 0, clientHigh: 0, clientLow: 0, channel: 0)
    private var highest: UInt64 = 0
    private(set) var ring = OutcomeRing()

    init() {}

    mutating func visit(_ columns: inout Columns) {
        columns.number("number", &channel.number, as: .key)
        var client = Device16(high: channel.clientHigh, low: channel.clientLow)
        columns.bytes("client", &client)
        (channel.clientHigh, channel.clientLow) = (client.high, client.low)
        columns.number("channel", &channel.channel)
        columns.number("highest", &highest)
        columns.sumColumn()
        ring.channel = channel.number
        columns.packed("outcomes", &ring)
        columns.require(fit: ring.highest == highest)
    }

    mutating func merge(_ news: [ChannelOutcome]) {
        ring.merge(news)
        highest = ring.highest
    }
}

/// The outcomes of a channel's latest calls, as one row keeps them.
///
/// The ring keeps outcomes whose sequence is within 256 of the highest one. An older call is
/// answered as expired. The row has the outcomes in the order of sequences. Each is the sequence in
/// 8 bytes, the hash of the request in 4, a byte for the kind (0 done, 1 id, 2 items), then 0, 8 or
/// 32 bytes. Each number has its least byte first.
struct OutcomeRing: PackedColumn {
    /// How many sequences back a repeat is recognized.
    private static let windowCount: UInt64 = 256

    /// The channel's number, which the bytes leave out.
    var channel: UInt64 = 0
    /// The outcomes in the order of sequences, each of its own; no older than the window.
    private(set) var outcomes: [ChannelOutcome] = []

    var highest: UInt64 { outcomes.last?.sequence ?? 0 }

    mutating func merge(_ news: [ChannelOutcome]) {
        guard !news.isEmpty else { return }
        outcomes += news
        outcomes.sort { $0.sequence < $1.sequence }
        let highest = self.highest
        var merged: [ChannelOutcome] = []
        merged.reserveCapacity(outcomes.count)
        for outcome in outcomes where Self.isWithin(outcome.sequence, highest) {
            if let last = merged.last, last.sequence == outcome.sequence {
                merged[merged.count - 1] = Self.join(last, outcome)
            } else {
                merged.append(outcome)
            }
        }
        outcomes = merged
    }

    /// Whether an outcome is still of use under a highest sequence.
    static func isWithin(_ sequence: UInt64, _ highest: UInt64) -> Bool {
        highest < windowCount || sequence > highest - windowCount
    }

    /// What two outcomes of one call come to: the items of a batch only become more, whichever of
    /// them is read first.
    static func join(_ old: ChannelOutcome, _ new: ChannelOutcome) -> ChannelOutcome {
        guard case .items(let known) = old.outcome, case .items(let items) = new.outcome else {
            return new
        }
        var joined = new
        joined.outcome = .items(known.union(items))
        return joined
    }

    mutating func read(_ bytes: Span<UInt8>) -> Bool {
        outcomes.removeAll(keepingCapacity: true)
        var reader = ByteReader()
        while reader.offset < bytes.count {
            guard let sequence = reader.uint64(bytes), sequence > highest,
                let hash = reader.uint32(bytes), let outcome = Self.outcome(&reader, bytes)
            else { return false }
            outcomes.append(
                ChannelOutcome(
                    channel: channel,
                    sequence: sequence,
                    requestHash: hash,
                    outcome: outcome
                )
            )
        }
        guard let first = outcomes.first else { return true }
        return Self.isWithin(first.sequence, highest)
    }

    func write(into bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        for outcome in outcomes {
            bytes.append(littleEndian: outcome.sequence)
            bytes.append(littleEndian: outcome.requestHash)
            switch outcome.outcome {
            case .done: bytes.append(0)
            case .id(let id):
                bytes.append(1)
                bytes.append(littleEndian: id)
            case .items(let mask):
                bytes.append(2)
                bytes.append(littleEndian: mask.word0)
                bytes.append(littleEndian: mask.word1)
                bytes.append(littleEndian: mask.word2)
                bytes.append(littleEndian: mask.word3)
            }
        }
    }

    private static func outcome(_ reader: inout ByteReader, _ bytes: Span<UInt8>) -> Outcome? {
        switch reader.byte(bytes) {
        case 0: return .done
        case 1: return reader.uint64(bytes).map(Outcome.id)
        case 2:
            guard let word0 = reader.uint64(bytes), let word1 = reader.uint64(bytes),
                let word2 = reader.uint64(bytes), let word3 = reader.uint64(bytes)
            else { return nil }
            return .items(ItemMask(word0, word1, word2, word3))
        default: return nil
        }
    }
}
