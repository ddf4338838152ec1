internal import FeedConcurrency
internal import FeedTLS
internal import FeedTransport
internal import Logging

/// Reads the files of the certificate again when an operator asks, on a thread of its own: a loop does
/// not wait for a disk.
final class CertificateReloading: Sendable {
    private let files: TLSServerFiles
    private let acceptor: TLSAcceptor
    private let logger: Logger
    /// Held while the files are read and taken, so that the last files read win.
    private let reading = Lock(())

    /// Gives new connections of an acceptor the certificate in these files, each time it is asked to.
    init(_ files: TLSServerFiles, _ acceptor: TLSAcceptor, _ logger: Logger) {
        self.files = files
        self.acceptor = acceptor
        self.logger = logger
    }

    /// Starts to read the files.
    func begin() {
        let thread = NamedThread("feed-tls")
        do throws(ThreadStartError) {
            try thread.start { self.reload() }
        } catch {
            logger.error("\(OperatorLines.certificateKept("\(error)"))")
        }
    }

    /// Takes the files' certificate; keeps the old one where the files are refused.
    func reload() {
        reading.withLock { _ in
            do throws(TLSFileError) {
                let context = try TLSContext.server(files)
                acceptor.replace(with: context)
                logger.notice("\(OperatorLines.certificate(of: files, context))")
            } catch {
                logger.error("\(OperatorLines.certificateKept("\(error)"))")
            }
        }
    }
}
