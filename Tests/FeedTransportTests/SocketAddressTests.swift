import FeedTransport
import Testing

@Suite struct SocketAddressTests {
    @Test(arguments: [
        "127.0.0.1:7433", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:7433", "[::]:1",
        "[2001:db8::ff]:80", "[::fffe:7f00:1]:9",
    ])
    func readsWhatItWrites(text: String) throws {
        #expect(try SocketAddress(parsing: text).description == text)
    }

    @Test func takesLocalhostForTheLoopbackAddress() throws {
        #expect(try SocketAddress(parsing: "localhost:80") == .loopback(port: 80))
    }

    @Test("an IPv4-mapped address is the IPv4 address")
    func takesTheIPv4AddressOfAMappedOne() throws {
        let address = try SocketAddress(parsing: "[::ffff:127.0.0.1]:9")
        #expect(address == .loopback(port: 9))
        #expect(address.isLoopback)
        #expect(try SocketAddress(parsing: "[::ffff:7f00:1]:9") == .loopback(port: 9))
        let other = try SocketAddress(parsing: "[::FFFF:10.0.0.1]:9")
        #expect(other.description == "10.0.0.1:9")
        #expect(!other.isLoopback)
        #expect(SocketAddress.Host(high: 1, low: 0xffff_7f00_0001) != .v4(0x7f00_0001))
    }

    @Test(arguments: [
        ("7433", "the port is missing, as in 127.0.0.1:7433"),
        ("[::1]", "the port is missing, as in [::1]:7433"),
        ("127.0.0.1:", "the port must be a number from 0 to 65535"),
        ("127.0.0.1:65536", "the port must be a number from 0 to 65535"),
        ("127.0.0.1:+1", "the port must be a number from 0 to 65535"),
        ("::1:7433", "an IPv6 address stands in brackets, as in [::1]:7433"),
        ("example.org:80", "\"example.org\" is not an IPv4 address or localhost"),
        ("127.0.0.1\0x:80", "\"127.0.0.1\0x\" is not an IPv4 address or localhost"),
        (":80", "\"\" is not an IPv4 address or localhost"),
        ("[127.0.0.1]:80", "\"127.0.0.1\" is not an IPv6 address"),
        ("[localhost]:80", "\"localhost\" is not an IPv6 address"),
    ])
    func saysWhatIsWrong(text: String, reason: String) {
        #expect(throws: TransportError.invalidAddress(text, reason)) {
            try SocketAddress(parsing: text)
        }
    }

    @Test(arguments: [
        "feed.example.org:80", "Feed:1", "a-b_c.d:1", "example.org.:7433", "1a:1", "127.0.0.1:1",
        "[::1]:1",
    ])
    func readsEndpoints(text: String) throws {
        #expect(try Endpoint(parsing: text).description == text)
    }

    @Test func tellsNamesFromAddresses() throws {
        #expect(try Endpoint(parsing: "localhost:1") == .address(.loopback(port: 1)))
        #expect(
            try Endpoint(parsing: "10.0.0.1:1") == .address(SocketAddress(parsing: "10.0.0.1:1"))
        )
        #expect(try Endpoint(parsing: "local:1") == .name("local", port: 1))
    }

    @Test(arguments: [
        "300.0.0.1", "1.2.3", "7", "", ".", "a..b", "-a", "a b", "a\0b", "a/b",
        String(repeating: "a", count: 64), String(repeating: "a.", count: 127),
    ])
    func refusesWhatIsNoHostName(host: String) {
        let reason = "\"\(host)\" is not an IPv4 address or a host name"
        #expect(throws: TransportError.invalidAddress("\(host):80", reason)) {
            try Endpoint(parsing: "\(host):80")
        }
    }

    @Test(arguments: [
        ("127.0.0.1:1", true), ("127.255.0.9:1", true), ("128.0.0.1:1", false),
        ("0.0.0.0:1", false),
        ("[::1]:1", true), ("[::2]:1", false), ("[::ffff:127.0.0.1]:1", true),
        ("[::ffff:10.0.0.1]:1", false), ("[fe80::1]:1", false),
    ])
    func knowsWhatOnlyThisMachineReaches(text: String, isLoopback: Bool) throws {
        #expect(try SocketAddress(parsing: text).isLoopback == isLoopback)
    }
}
