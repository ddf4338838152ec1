internal import FeedConcurrency
internal import Logging

/// Reads the file of service keys again when an operator asks, on a thread of its own: a loop does
/// not wait for a disk.
final class ServiceKeyReloading: Sendable {
    private let path: String
    private let keys: ServiceKeys
    private let supervisor: Supervisor
    private let logger: Logger
    /// Held while the file is read and its keys are taken, so that the last file read wins.
    private let reading = Lock(())

    /// Replaces these keys with those of a file, each time it is asked to.
    init(_ path: String, _ keys: ServiceKeys, _ supervisor: Supervisor, _ logger: Logger) {
        self.path = path
        self.keys = keys
        self.supervisor = supervisor
        self.logger = logger
    }

    /// Starts to read the file.
    func begin() {
        let thread = NamedThread("feed-keys")
        do throws(ThreadStartError) {
            try thread.start { self.reload() }
        } catch {
            logger.error("\(OperatorLines.serviceKeysKept("\(error)"))")
        }
    }

    /// Replaces the keys with those of the file; keeps them where the file is refused.
    func reload() {
        reading.withLock { _ in
            supervisor.notify(.reloading)
            defer { supervisor.notify(.reloaded) }
            do throws(ServiceKeyFileError) {
                let new = try ServiceKeyFile.read(path)
                keys.replace(with: new)
                logger.notice("\(OperatorLines.serviceKeys(new))")
            } catch {
                logger.error("\(OperatorLines.serviceKeysKept("\(error)"))")
            }
        }
    }
}
