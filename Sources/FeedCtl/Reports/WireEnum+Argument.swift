internal import FeedProto

extension WireEnum {
    /// The value as the command line takes it and JSON has it, as `up`; empty where it is unspecified.
    var argument: String { rawValue == 0 ? "" : description.lowercased() }
}
