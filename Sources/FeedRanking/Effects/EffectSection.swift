/// The rest of one log's bytes in a body.
struct EffectSection: BitwiseCopyable {
    /// Where the next effect begins.
    private var offset: Int
    /// Where the section ends.
    let end: Int
    /// The revision of the effect before, 0 at the start.
    private var previousRevision: UInt64 = 0
    /// The next effect's kind, once `peek` has read it.
    private var kind: UInt8 = 0
    /// Where the next effect's fields begin, behind its kind and revision.
    private var fieldsOffset = 0
    /// The next effect's revision, or the one before where it has none.
    private(set) var revision: UInt64 = 0

    /// The section of these bytes.
    init(offset: Int, end: Int) {
        self.offset = offset
        self.end = end
    }

    /// Whether all effects have been taken.
    var isAtEnd: Bool { offset == end }

    /// Reads the kind and the revision of the next effect; O(1).
    @inline(__always)
    mutating func peek(_ bytes: borrowing Slab<UInt8>) throws(EffectError) {
        kind = bytes[offset]
        revision = previousRevision
        fieldsOffset = offset + 1
        guard EffectKind.hasRevision(kind) else { return }
        var fields = EffectFields(kind: kind, start: offset, next: fieldsOffset, end: end)
        let difference = try fields.varint(bytes)
        let (sum, isTooLarge) = previousRevision.addingReportingOverflow(difference)
        guard !isTooLarge else { throw fields.badValue }
        revision = sum
        fieldsOffset = fields.next
    }

    /// Reads the effect that was peeked at, and goes on behind it; O(its bytes).
    @inline(__always)
    mutating func takeEffect(_ bytes: borrowing Slab<UInt8>) throws(EffectError) -> Effect {
        var fields = EffectFields(kind: kind, start: offset, next: fieldsOffset, end: end)
        let effect = try fields.effect(revision: revision, bytes)
        offset = fields.next
        previousRevision = revision
        return effect
    }
}
