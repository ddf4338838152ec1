package import FeedClient
internal import Foundation

// Base64 with the alphabet of RFC 4648, section 5: none of it has a meaning to a shell.
extension PageToken {
    /// The token for a command line.
    package var text: String {
        Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// Reads a token that ``text`` wrote.
    package init?(text: String) {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let base64 = text.replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        guard let data = Data(base64Encoded: base64 + padding) else { return nil }
        self.init(bytes: Array(data))
    }
}
