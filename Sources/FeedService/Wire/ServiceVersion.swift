/// The name and the versions of this build, for the start line and Hello.
enum ServiceVersion {
    /// The version of the service, by semantic versioning: the newest section of CHANGELOG.md.
    static let current = "0.2.0"
    /// The name in Hello and in the statistics.
    static let serverName = "feed-service/\(current)"
    /// The protocol versions it speaks.
    static let protocolVersions: ClosedRange<UInt32> = 1...1
}
