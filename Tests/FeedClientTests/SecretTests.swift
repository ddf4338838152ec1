import FeedClient
import FeedTestSupport
import Foundation
import Testing

/// How a program keeps a key or a token.
struct SecretTests {
    private static let digits = String(repeating: "0f", count: 31) + "A0"

    @Test func readsAndWritesHexadecimalDigits() throws {
        let secret = try #require(Secret(hexadecimal: Self.digits))
        #expect(secret.bytes.count == 32)
        #expect(secret.bytes.last == 0xA0)
        #expect(secret.hexadecimal == Self.digits.lowercased())
        for bad in ["", "0f", Self.digits + "00", "g" + Self.digits.dropFirst()] {
            #expect(Secret(hexadecimal: bad) == nil, "\(bad)")
        }
        #expect(Secret(bytes: [1, 2, 3]) == nil)
    }

    @Test func readsAFileOfOneLine() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/key"
        try Data("\(Self.digits)\n".utf8).write(to: URL(filePath: path))
        #expect(Secret(file: path) == Secret(hexadecimal: Self.digits))
        try Data("name \(Self.digits)\n".utf8).write(to: URL(filePath: path))
        #expect(Secret(file: path) == nil)
        #expect(Secret(file: directory.path + "/none") == nil)
    }

    @Test("no text of a secret or of a configuration shows its bytes")
    func isNotPrinted() {
        var configuration = ClientConfiguration()
        configuration.serviceKey = Secret(bytes: [UInt8](repeating: 171, count: 32))
        configuration.sessionToken = configuration.serviceKey
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped] {
            #expect(!text.contains("171"))
            #expect(!text.lowercased().contains("ab, ab"))
        }
    }
}
