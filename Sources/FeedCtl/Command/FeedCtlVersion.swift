/// The version of this build, for `--version`.
enum FeedCtlVersion {
    /// The version that the service of the same sources has; scripts/check.sh compares the two.
    static let current = "0.2.0"
}
