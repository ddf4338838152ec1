import FeedTransport

extension RunConfiguration {
    /// Raises the limit of open files; refuses a run whose connections would need more.
    func checkDescriptors() throws(RunFailure) {
        let needed = clientCount + Self.spareDescriptorCount
        let limit = ProcessSetup.raiseOpenFileLimit()
        guard limit >= needed else { throw .tooFewDescriptors(needed: needed, limit: limit) }
    }

    /// Descriptors beside those of the connections: standard ones, loops, timers, /proc.
    private static let spareDescriptorCount = 64
}
