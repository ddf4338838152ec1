/// What there is to say of the disk's room.
package enum SpaceNews: Equatable, Sendable {
    /// Changes are refused: so many bytes are free, and with so many they are taken again.
    case full(freeByteCount: Int, writableByteCount: Int)

    /// Changes are taken again, with so many bytes free.
    case hasRoom(freeByteCount: Int)

    /// Segments that were kept to restore a moment were removed before their time.
    case droppedSegments(count: Int)

    /// The ballast was given up, so that what was taken before can be written.
    case gaveUpBallast
}
