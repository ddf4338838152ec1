/// Reads the effects of a cut, the sections of its logs merged by revision.
///
/// An effect without a revision comes right behind the one before it in its own log: whatever
/// depends on it, in any log, has a revision that was given later; save for the outcome of a call
/// that changed nothing, which may come before its channel. Every read is checked; an error is
/// thrown again by every further call.
package struct EffectReader: ~Copyable {
    private let bytes: Slab<UInt8>
    /// The section of the effect that was read last.
    private var current = EffectSection(offset: 0, end: 0)
    /// The other sections that are not at their ends, all peeked into.
    private var others: [EffectSection] = []
    /// The least revision among the others.
    private var otherRevision = UInt64.max

    /// Reads a copy of a body that `EffectLogs.takeCut` made; O(bytes).
    package init(_ body: borrowing Span<UInt8>) throws(EffectError) {
        bytes = Slab(copying: body)
        var offset = 0
        while offset < bytes.count {
            guard bytes.count - offset >= 4 else { throw .brokenSection(offset: offset) }
            var length = 0
            for index in 0..<4 { length |= Int(bytes[offset + index]) << (8 * index) }
            guard length <= bytes.count - offset - 4 else { throw .brokenSection(offset: offset) }
            var section = EffectSection(offset: offset + 4, end: offset + 4 + length)
            offset = section.end
            if length > 0 {
                try section.peek(bytes)
                others.append(section)
            }
        }
        takeFirstSection()
    }

    /// Reads a copy of a body.
    package init(_ body: [UInt8]) throws(EffectError) {
        try self.init(body.span)
    }

    /// The next effect; nil at the end of the body.
    ///
    /// O(1) beside texts for a body of one section, else O(sections) where the section changes.
    package mutating func next() throws(EffectError) -> Effect? {
        if current.isAtEnd {
            guard !others.isEmpty else { return nil }
            takeFirstSection()
        } else {
            try current.peek(bytes)
            if current.revision > otherRevision {
                others.append(current)
                takeFirstSection()
            }
        }
        return try current.takeEffect(bytes)
    }

    /// Goes on with the section whose next effect is the first.
    private mutating func takeFirstSection() {
        guard var first = others.indices.first else { return }
        for index in others.indices where others[index].revision < others[first].revision {
            first = index
        }
        current = others[first]
        others[first] = others[others.count - 1]
        others.removeLast()
        otherRevision = others.reduce(.max) { min($0, $1.revision) }
    }
}
