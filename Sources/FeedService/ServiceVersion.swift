/// What this build calls itself, on the start line and in Hello.
enum ServiceVersion {
    /// The version of the service, by semantic versioning.
    static let current = "0.1.0"
    /// The name in Hello and in the statistics.
    static let serverName = "feed-service/\(current)"
    /// The protocol versions it speaks.
    static let protocolVersions: ClosedRange<UInt32> = 1...1
}
