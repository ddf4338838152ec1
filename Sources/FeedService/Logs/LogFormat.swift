/// The form of the lines of the log.
package enum LogFormat: String, CaseIterable, Sendable {
    /// `TIME LEVEL feed-service: [FeedService] TEXT`.
    case text
    /// A JSON object a line.
    case json
}
