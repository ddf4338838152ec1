import FeedTestSupport
import Foundation

/// A secret that a test gives to a service, and that nothing may show afterwards.
struct PlantedSecret: Sendable {
    /// What was planted, for the message of a failure.
    let name: String
    let bytes: [UInt8]
    let range: Range<Int>

    /// The length of the parts that are looked for.
    private static let partByteCount = 12

    /// A secret whose parts are unlike anything else.
    ///
    /// - Parameters:
    ///   - name: What is planted.
    ///   - bytes: Where it is planted.
    ///   - range: The random part of the bytes; nil is all.
    init(_ name: String, _ bytes: [UInt8], range: Range<Int>? = nil) {
        self.name = name
        self.bytes = bytes
        self.range = range ?? bytes.indices
    }

    /// A password of random letters.
    static func password(
        _ name: String,
        characterCount: Int = 40,
        _ random: inout SeededGenerator
    ) -> PlantedSecret {
        let letters = Array("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)
        return PlantedSecret(
            name,
            (0..<characterCount).map { _ in letters[Int.random(in: letters.indices, using: &random)]
            }
        )
    }

    /// The text of a password.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// What is looked for in memory: its parts, as the allocator writes over the first bytes of freed
    /// memory and leaves the others.
    var parts: [[UInt8]] {
        let last = range.upperBound - Self.partByteCount
        guard last > range.lowerBound else { return [Array(bytes[range])] }
        return stride(from: range.lowerBound, through: last, by: Self.partByteCount)
            .map { Array(bytes[$0..<$0 + Self.partByteCount]) }
            + [Array(bytes[last..<range.upperBound])]
    }

    /// What is looked for in texts and files: the bytes themselves, and how programs write bytes.
    var spellings: [[UInt8]] {
        let data = Data(bytes[range])
        let hex = data.map { String(format: "%02x", $0) }.joined()
        let base64 = data.base64EncodedString().prefix { $0 != "=" }.dropLast()
        let url = base64.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
        return parts
            + [hex, hex.uppercased(), String(base64), String(url)].map { Array($0.utf8) }
    }
}

/// Looks for many texts at once.
struct SecretSearch {
    private let secrets: [PlantedSecret]
    /// The texts by their first two bytes, with the number of the secret.
    private var byBeginning: [Int: [(number: Int, text: [UInt8])]] = [:]
    private var mayBegin = [Bool](repeating: false, count: 1 << 16)

    /// Looks for texts of some secrets.
    init(_ secrets: [PlantedSecret], _ texts: (PlantedSecret) -> [[UInt8]]) {
        self.secrets = secrets
        for (number, secret) in secrets.enumerated() {
            for text in texts(secret) {
                let beginning = Int(text[0]) << 8 | Int(text[1])
                byBeginning[beginning, default: []].append((number, text))
                mayBegin[beginning] = true
            }
        }
    }

    /// The names of the secrets that some bytes have; O(bytes).
    ///
    /// A text that begins with 0 is not found by its beginning, but its secret has other texts.
    func names(in bytes: [UInt8]) -> Set<String> {
        var names: Set<String> = []
        guard bytes.count > 1 else { return names }
        for index in 0..<bytes.count - 1 where bytes[index] != 0 {
            let beginning = Int(bytes[index]) << 8 | Int(bytes[index + 1])
            guard mayBegin[beginning], let texts = byBeginning[beginning] else { continue }
            for (number, text) in texts where bytes[index...].starts(with: text) {
                names.insert(secrets[number].name)
            }
        }
        return names
    }
}
