internal import FeedConcurrency
internal import FeedTLS
internal import FeedTransport
internal import Logging

/// Reads the files again that an operator may replace while the service runs: the service keys, and the
/// certificate.
///
/// Each reading is on a thread of its own, as a loop does not wait for a disk. The supervisor is told of
/// one reload, and that it has ended once all files were read.
final class FileReloading: Sendable {
    /// What is read again.
    struct Source: Sendable {
        /// The line of the log if it cannot be read: what was read before stays.
        let kept: @Sendable (_ cause: String) -> String
        /// Reads it, and has it used from now on; returns the line about that.
        let read: @Sendable () throws -> String
    }

    private let sources: [Source]
    private let supervisor: Supervisor
    private let logger: Logger
    /// Held while files are read and taken, so that the last ones read win.
    private let reading = Lock(())

    init(_ sources: [Source], _ supervisor: Supervisor, logger: Logger) {
        self.sources = sources
        self.supervisor = supervisor
        self.logger = logger
    }

    /// Starts to read the files; where there are none, a line says so.
    func begin() {
        guard !sources.isEmpty else {
            logger.notice("\(OperatorLines.hangUpWithoutKeys)")
            return
        }
        do throws(ThreadStartError) {
            try NamedThread("feed-reload").start { self.reload() }
        } catch {
            // Two addresses may have one certificate.
            var lines: [String] = []
            for source in sources where !lines.contains(source.kept("\(error)")) {
                lines.append(source.kept("\(error)"))
            }
            for line in lines { logger.error("\(line)") }
        }
    }

    private func reload() {
        reading.withLock { _ in
            supervisor.notify(.reloading)
            for source in sources {
                do {
                    let line = try source.read()
                    logger.notice("\(line)")
                } catch {
                    logger.error("\(source.kept("\(error)"))")
                }
            }
            supervisor.notify(.reloaded)
        }
    }
}

extension FileReloading.Source {
    /// The file of service keys, some of which may be of certificates that clients show.
    static func keys(of path: String, _ keys: ServiceKeys, takesCertificates: Bool) -> Self {
        Self(kept: OperatorLines.serviceKeysKept) {
            let new = try ServiceKeyFile.read(path, takesCertificates: takesCertificates)
            keys.replace(with: new)
            return OperatorLines.serviceKeys(new)
        }
    }

    /// The files of a certificate, which new connections of an acceptor get.
    static func certificate(of files: TLSServerFiles, for acceptor: TLSAcceptor) -> Self {
        Self(kept: OperatorLines.certificateKept) {
            let context = try TLSContext.server(files)
            acceptor.replace(with: context)
            return OperatorLines.certificate(of: files, context)
        }
    }
}
