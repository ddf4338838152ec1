internal import FeedJournal

// Which file would undo a loss.
extension RefusalWords {
    /// What to put back, as the beginning of a sentence.
    func puttingBack(_ loss: StateLoss) -> String {
        switch (loss.problem, loss.place) {
        case (.missingWatermark, _):
            "If you have \(SegmentJournal.watermarkName) as it was, put it back"
        case (.damaged(let file, _, _, _), _): "If you have \(file) as it was, put it back"
        case (_, .segment(let name)?):
            "If you have \(name) and the segments after it, put them back"
        case (_, .end(let name, let offset, let next)?):
            "If you have \(name) as it was, with what is after offset \(offset), or \(next) where "
                + "that begins the records, put it back"
        default:
            "If you have the segments that have the records, put them back into "
                + RefusalCommands.quoted("\(path)/\(SegmentJournal.directoryName)")
                + "; or state.db-wal, if that was removed"
        }
    }
}
