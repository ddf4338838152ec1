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
    struct Keys {
        let path: String
        let valid: ServiceKeys
        /// Whether clients show certificates, which the file may name.
        let takesCertificates: Bool
    }

    /// The files of a certificate, and who uses it.
    struct Certificate {
        let files: TLSServerFiles
        let acceptor: TLSAcceptor
    }

    private let keys: Keys?
    private let certificates: [Certificate]
    private let supervisor: Supervisor
    private let logger: Logger
    /// Held while files are read and taken, so that the last ones read win.
    private let reading = Lock(())

    init(_ keys: Keys?, _ certificates: [Certificate], _ supervisor: Supervisor, logger: Logger) {
        self.keys = keys
        self.certificates = certificates
        self.supervisor = supervisor
        self.logger = logger
    }

    /// Starts to read the files; where there are none, a line says so.
    func begin() {
        guard keys != nil || !certificates.isEmpty else {
            logger.notice("\(OperatorLines.hangUpWithoutKeys)")
            return
        }
        let thread = NamedThread("feed-reload")
        do throws(ThreadStartError) {
            try thread.start { self.reload() }
        } catch {
            if keys != nil { logger.error("\(OperatorLines.serviceKeysKept("\(error)"))") }
            if !certificates.isEmpty {
                logger.error("\(OperatorLines.certificateKept("\(error)"))")
            }
        }
    }

    private func reload() {
        reading.withLock { _ in
            supervisor.notify(.reloading)
            if let keys { reload(keys) }
            for certificate in certificates { reload(certificate) }
            supervisor.notify(.reloaded)
        }
    }

    /// Replaces the keys with those of the file; keeps them where the file is refused.
    private func reload(_ keys: Keys) {
        do throws(ServiceKeyFileError) {
            let new = try ServiceKeyFile.read(
                keys.path,
                takesCertificates: keys.takesCertificates
            )
            keys.valid.replace(with: new)
            logger.notice("\(OperatorLines.serviceKeys(new))")
        } catch {
            logger.error("\(OperatorLines.serviceKeysKept("\(error)"))")
        }
    }

    /// Takes the files' certificate for new connections; keeps the old one where the files are refused.
    private func reload(_ certificate: Certificate) {
        do throws(TLSFileError) {
            let context = try TLSContext.server(certificate.files)
            certificate.acceptor.replace(with: context)
            logger.notice("\(OperatorLines.certificate(of: certificate.files, context))")
        } catch {
            logger.error("\(OperatorLines.certificateKept("\(error)"))")
        }
    }
}
