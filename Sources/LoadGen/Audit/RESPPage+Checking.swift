extension RESPPage {
    /// Checks the order inside the page; `last` is the entry before it, if that is known.
    func check(after last: Entry? = nil, into findings: inout Findings) {
        var last = last
        for entry in entries {
            if let last, last.post == entry.post {
                findings.note(.listedTwice, "A page lists post \(entry.post) twice.")
            } else if let last, !last.precedes(entry) {
                findings.note(
                    .pageOrder,
                    """
                    Post \(entry.post) with score \(entry.score) stands behind post \(last.post) \
                    with score \(last.score).
                    """
                )
            }
            last = entry
        }
    }
}
