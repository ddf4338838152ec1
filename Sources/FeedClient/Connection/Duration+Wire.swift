extension Duration {
    /// The duration as a frame says it, at least a millisecond: 0 would be the service's default.
    var wireMilliseconds: UInt32 {
        let milliseconds =
            components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
        return UInt32(clamping: max(1, milliseconds))
    }
}
