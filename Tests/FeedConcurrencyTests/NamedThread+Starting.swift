import FeedConcurrency

extension NamedThread {
    /// Starts the thread, and ends the tests where the system refuses.
    func startOrTrap(_ body: @escaping @Sendable () -> Void) {
        do {
            try start(body)
        } catch {
            fatalError(error.description)
        }
    }
}
