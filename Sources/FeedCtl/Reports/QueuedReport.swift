package import FeedOffline

/// A change that was kept, as the commands with `--queue` report it.
package struct QueuedReport: Report, Equatable {
    let entry: UInt64

    /// The report of an entry.
    package init(_ entry: OutboxEntry) { self.entry = entry.number }

    /// One line.
    package func text(_ style: TextStyle) -> String {
        "No service can be reached: the change waits as entry \(entry) for feedctl sync.\n"
    }
}
