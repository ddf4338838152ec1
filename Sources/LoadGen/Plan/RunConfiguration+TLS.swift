internal import FeedClient

extension RunConfiguration {
    /// Secures the connections of the run with TLS 1.3; returns why the files are refused, else nil.
    ///
    /// - Parameters:
    ///   - authorityPath: The certificates that vouch for the service's; nil takes the system's.
    ///   - certificatePath: The certificate to show the service; nil is none.
    ///   - keyPath: Its private key.
    ///   - serverName: The name that the service's certificate must have; nil is the target's host.
    /// - Returns: A sentence, or nil where the files are taken.
    package mutating func secure(
        authorityPath: String?,
        certificatePath: String?,
        keyPath: String?,
        serverName: String?
    ) -> String? {
        let tls = ClientTLS(
            authorityPath: authorityPath,
            certificatePath: certificatePath,
            keyPath: keyPath,
            serverName: serverName
        )
        do throws(FeedClientError) {
            security = try ClientSecurity(tls)
        } catch {
            return error.cause
        }
        self.tls = tls
        return nil
    }
}
