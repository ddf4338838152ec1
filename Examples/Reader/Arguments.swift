import FeedClient
import Foundation

/// The words of the command line.
struct Arguments {
    private(set) var address: String?
    private(set) var folder: String?
    /// The TLS of the connections; nil sends plain bytes.
    private(set) var tls: ClientTLS?

    /// Reads the words behind the program's name; a word that it does not know ends the program.
    init(_ words: some Sequence<String>) {
        var words = Array(words)[...]
        while let word = words.popFirst() {
            switch word {
            case "--tls": tls = tls ?? ClientTLS()
            case "--ca":
                guard let file = words.popFirst() else { Self.explain() }
                tls = ClientTLS(authorityPath: file)
            case _ where word.hasPrefix("-") || folder != nil: Self.explain()
            case _ where address == nil: address = word
            default: folder = word
            }
        }
    }

    private static func explain() -> Never {
        print("Usage: Reader [HOST:PORT [FOLDER]] [--tls] [--ca FILE]")
        exit(2)
    }
}
