/// Reads the effects of a cut, the sections of its logs merged by revision.
///
/// An effect without a revision comes right behind the one before it in its own log: whatever
/// depends on it, in any log, has a revision that was given later. Every read is checked; an error
/// is thrown again by every further call.
package struct EffectReader: Sendable {
    /// The rest of one log's bytes.
    private struct Section {
        /// Where the next effect begins.
        var offset: Int
        /// Where the section ends.
        var end: Int
        /// The revision of the effect before, 0 at the start.
        var previousRevision: UInt64 = 0
        /// The next effect's kind, once `peek` has read it.
        var kind: UInt8 = 0
        /// The next effect's revision, or the one before where it has none.
        var revision: UInt64 = 0
        /// Where the next effect's fields begin, behind its kind and revision.
        var fields = 0
    }

    var bytes: [UInt8]
    /// The section of the effect that was read last.
    private var current = Section(offset: 0, end: 0)
    /// The other sections that are not at their ends, all peeked into.
    private var others: [Section] = []
    /// The least revision among the others.
    private var otherRevision = UInt64.max

    /// Reads a body as `EffectLogs.takeCut` makes it; O(sections).
    package init(_ body: [UInt8]) throws(EffectError) {
        bytes = body
        var offset = 0
        while offset < bytes.count {
            guard bytes.count - offset >= 4 else { throw .brokenSection(offset: offset) }
            var length = 0
            for index in 0..<4 { length |= Int(bytes[offset + index]) << (8 * index) }
            guard length <= bytes.count - offset - 4 else { throw .brokenSection(offset: offset) }
            var section = Section(offset: offset + 4, end: offset + 4 + length)
            offset = section.end
            if length > 0 {
                try peek(&section)
                others.append(section)
            }
        }
        takeFirstSection()
    }

    /// Reads a copy of a body.
    package init(_ body: Span<UInt8>) throws(EffectError) {
        var copy: [UInt8] = []
        copy.reserveCapacity(body.count)
        for index in body.indices { copy.append(body[index]) }
        try self.init(copy)
    }

    /// The next effect; nil at the end of the body.
    ///
    /// O(1) for a body of one section, else O(sections) where the section changes.
    package mutating func next() throws(EffectError) -> Effect? {
        if current.offset == current.end {
            guard !others.isEmpty else { return nil }
            takeFirstSection()
        } else {
            try peek(&current)
            if current.revision > otherRevision {
                others.append(current)
                takeFirstSection()
            }
        }
        var fields = EffectFields(
            kind: current.kind,
            start: current.offset,
            next: current.fields,
            end: current.end
        )
        let effect = try fields.effect(revision: current.revision, bytes)
        current.offset = fields.next
        current.previousRevision = current.revision
        return effect
    }

    /// Goes on with the section whose next effect is the first.
    private mutating func takeFirstSection() {
        guard var first = others.indices.first else { return }
        for index in others.indices where others[index].revision < others[first].revision {
            first = index
        }
        current = others.remove(at: first)
        otherRevision = others.reduce(.max) { min($0, $1.revision) }
    }

    /// Reads the kind and the revision of a section's next effect.
    @inline(__always)
    private func peek(_ section: inout Section) throws(EffectError) {
        let kind = bytes[section.offset]
        section.kind = kind
        section.revision = section.previousRevision
        section.fields = section.offset + 1
        guard kind <= EffectKind.deletion else { return }
        var fields = EffectFields(
            kind: kind,
            start: section.offset,
            next: section.fields,
            end: section.end
        )
        let difference = try fields.varint(bytes)
        let (revision, isTooLarge) = section.previousRevision
            .addingReportingOverflow(difference)
        guard !isTooLarge else { throw fields.badValue }
        section.revision = revision
        section.fields = fields.next
    }
}
