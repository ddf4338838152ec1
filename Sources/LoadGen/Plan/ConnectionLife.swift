/// When connections are closed and opened again, as `--reconnect-every` and `--conn-life` say.
package struct ConnectionLife: Sendable, Equatable {
    /// Requests after which a connection is closed; nil is never.
    package var requestCount: UInt64?
    /// The age at which a connection is closed; nil is never.
    package var age: Duration?
    /// An age is up to this much shorter or longer, evenly distributed.
    package var jitter = Duration.zero

    /// Connections live as long as the run.
    package init() {}

    /// Whether connections live as long as the run.
    package var isEndless: Bool { requestCount == nil && age == nil }

    /// Takes the age that `text` names, as `30s` or `30s±5s` (or `30s+-5s`); returns false where
    /// it is none.
    package mutating func takeAge(_ text: String) -> Bool {
        let parts = text.replacing("+-", with: "±").split(
            separator: "±",
            omittingEmptySubsequences: false
        ).map { Quantity.duration(String($0)) }
        guard let age = parts[0], age >= .milliseconds(100), age <= .seconds(86_400) else {
            return false
        }
        guard parts.count > 1 else {
            self.age = age
            return true
        }
        guard parts.count == 2, let jitter = parts[1], jitter < age else { return false }
        (self.age, self.jitter) = (age, jitter)
        return true
    }

    /// How long the next connection lives, in nanoseconds; nil where its age does not end it.
    func nextAge(_ stream: inout RandomStream) -> UInt64? {
        guard let age else { return nil }
        let spread = Double(jitter.nanoseconds) * (2 * stream.nextUnit() - 1)
        return UInt64(Double(age.nanoseconds) + spread)
    }
}
