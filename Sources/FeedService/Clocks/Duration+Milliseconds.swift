extension Duration {
    /// The duration in milliseconds, without their fraction.
    var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
