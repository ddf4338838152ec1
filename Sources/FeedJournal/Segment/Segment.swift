/// A segment of the journal, known by the number of its first record.
struct Segment: Equatable {
    /// The number of the record with which it begins.
    let first: UInt64

    /// Its file's name below the data directory.
    var name: String { SegmentLayout.name(first: first) }
}

/// A place between two records of a segment.
struct RecordPlace: Equatable {
    /// Where the next record begins.
    let offset: Int

    /// The record before the place.
    let previous: JournalPosition

    /// When that one was written, or an earlier one.
    let microseconds: UInt64
}
