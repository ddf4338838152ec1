/// Where the first record that is missing has to be.
package enum MissingPlace: Equatable, Sendable {
    /// In a segment that is not there, with its name below the data directory.
    case segment(String)

    /// After an offset of a segment, or, where that was full, in the next one, which is not there.
    case end(of: String, offset: Int, next: String)
}

extension RecoveryScan {
    /// Where the first record that is missing has to be; nil where none is, where the problem names
    /// the place, and where no file tells it.
    package var firstMissing: MissingPlace? {
        switch problem {
        case .missing(let records):
            // After whole records: a segment begins with the first one that is missing.
            guard lastFound == records.lowerBound - 1,
                segments.contains(where: { $0.first < records.lowerBound })
            else { return nil }
            return .segment(SegmentLayout.name(first: records.lowerBound))
        case .lost:
            guard case .segment(let index, record: _, let offset, content: _) = end else {
                return nil
            }
            let next = SegmentLayout.name(first: last.number + 1)
            return .end(of: segments[index].name, offset: offset, next: next)
        default: return nil
        }
    }
}
