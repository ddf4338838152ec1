internal import FeedProto
internal import FeedState

extension ServiceContext {
    /// Why changes are refused now; nil where they are taken.
    var refusalOfChanges: Status? {
        if isOverloaded { return .overloaded(limit: limits.maximumBufferedByteCount) }
        if clock.jumpMilliseconds != 0 { return .clockJumped(by: clock.jumpMilliseconds) }
        guard let journal = state?.journal else { return nil }
        if !journal.isWritable { return .readOnly(freeByteCount: journal.freeByteCount) }
        return journal.isBehind ? .journalBehind : nil
    }
}
