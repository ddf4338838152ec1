extension Duration {
    /// The milliseconds of a duration that is not negative, rounded down.
    package var millisecondsRoundedDown: Int64 {
        components.seconds * 1_000 + components.attoseconds / Self.attosecondsPerMillisecond
    }

    /// The milliseconds of a duration that is not negative, rounded up: no timer fires early.
    package var millisecondsRoundedUp: Int64 {
        let (seconds, attoseconds) = components
        let unit = Self.attosecondsPerMillisecond
        return seconds * 1_000 + (attoseconds + unit - 1) / unit
    }

    private static var attosecondsPerMillisecond: Int64 { 1_000_000_000_000_000 }
}
