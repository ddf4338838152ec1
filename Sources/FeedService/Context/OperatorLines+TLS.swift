internal import FeedTLS
package import FeedTransport

extension OperatorLines {
    /// The certificate that new connections are shown from now on.
    static func certificate(of files: TLSServerFiles, _ context: TLSContext) -> String {
        let end = context.expiry.map { ", valid until \($0)" } ?? ""
        return
            "new TLS connections get the certificate of \(files.certificate.certificatePath)\(end)"
    }

    /// The files of the certificate could not be read again.
    static func certificateKept(_ cause: String) -> String {
        "the TLS certificate stays as it was: \(cause)"
    }

    /// Addresses that other machines reach stand open.
    package static func insecure(_ addresses: [SocketAddress]) -> String {
        let list = addresses.map(\.description).joined(separator: ", ")
        return "--insecure: \(list) \(addresses.count == 1 ? "is" : "are") open to other machines "
            + "without encryption, or without a proof of who calls"
    }
}
