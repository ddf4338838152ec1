import FeedClient
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// TLS in the life of an operator, with the tools of others: openssl and Python's ssl.
@Suite(.timeLimit(.minutes(10))) struct TLSDaysTests {
    /// Sends a Ping over TLS twice, the second time with the session of the first; prints what came.
    private static let pings = """
        import socket, ssl, sys
        context = ssl.create_default_context(cafile=sys.argv[2])
        context.set_alpn_protocols(["feed/1"])
        ping = bytes.fromhex(sys.argv[3])
        session = None
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as plain:
                with context.wrap_socket(plain, server_hostname="localhost", session=session) as tls:
                    tls.sendall(ping)
                    answer = tls.recv(1000)
                    session = tls.session
                    print(tls.version(), tls.selected_alpn_protocol(), tls.session_reused,
                          len(answer) > 4 and b"hi" in answer)
                    tls.unwrap()
        """

    private static var ping: String {
        get throws {
            let ping = Request.ping(PingRequest(payload: Array("hi".utf8)))
            return try ClientFrame(id: 1, request: ping).encoded()
                .map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
    }

    @Test("T-TLS-1: openssl and Python's ssl talk to the service, and resume a session")
    func otherToolsTalkToIt() async throws {
        let service = try await SecuredService.start(TestCertificates())
        let (status, output) = try await service.openssl()
        #expect(status == 0, "\(output)")
        #expect(output.contains("New, TLSv1.3"))
        #expect(output.contains("ALPN protocol: feed/1"))
        #expect(output.contains("Verify return code: 0 (ok)"))
        let python = try await service.python(Self.pings, [try Self.ping])
        let lines = python.output.split(separator: "\n")
        #expect(lines == ["TLSv1.3 feed/1 False True", "TLSv1.3 feed/1 True True"])
        #expect(python.status == 0)
        #expect(await service.stop() == 0)
    }

    @Test(
        "T-TLS-2: old versions and other protocols get nothing",
        arguments: [["-tls1_2"], ["-tls1_1"], ["-tls1"], ["-alpn", "h2"]]
    )
    func refusesOldVersions(flags: [String]) async throws {
        let service = try await SecuredService.start(TestCertificates())
        let (status, output) = try await service.openssl(flags)
        #expect(status != 0, "\(output)")
        #expect(!output.contains("BEGIN CERTIFICATE"))
        #expect(try await service.openssl().status == 0)
        #expect(await service.stop() == 0)
    }

    /// With ffdhe8192 a hello of 1 KB had the service compute for 200 ms.
    @Test(
        "T-TLS-16: a hello may ask for the arithmetic of two groups only",
        arguments: [
            ("X25519", true), ("P-256", true), ("P-384:P-256", true), ("X448", false),
            ("P-384", false), ("P-521", false), ("ffdhe2048", false), ("ffdhe3072", false),
            ("ffdhe4096", false), ("ffdhe6144", false), ("ffdhe8192", false),
        ]
    )
    func handshakesUseTwoGroups(groups: String, isTaken: Bool) async throws {
        let service = try await SecuredService.start(TestCertificates())
        let (status, output) = try await service.openssl(["-groups", groups])
        #expect((status == 0) == isTaken, "\(output)")
        #expect(await service.stop() == 0)
    }

    @Test(
        "a client without TLS, and one that was given no authority, are told what is missing",
        arguments: [
            ([], "Where its address is for TLS, the client has to use TLS, too."),
            (["--tls"], "no file of authorities was given, so those of the system were asked."),
        ]
    )
    func tellsWhatIsMissing(flags: [String], words: String) async throws {
        let service = try await SecuredService.start(TestCertificates())
        let feedctl = try RunningProcess(
            Programs.feedCtl,
            ["list", "--target", "localhost:\(service.port)"] + flags
        )
        let (status, output) = await feedctl.finish()
        #expect(status != 0)
        #expect(output.joined(separator: "\n").contains(words), "\(output)")
        #expect(await service.stop() == 0)
    }

    @Test("T-TLS-5: a new certificate is for new connections, and a bad one for none")
    func reloadsItsCertificate() async throws {
        let certificates = try TestCertificates()
        let service = try await SecuredService.start(certificates)
        let client = try await FeedClient.connect(
            to: "localhost:\(service.port)",
            configuration: Self.configuration(certificates)
        )
        let old = try String(contentsOfFile: certificates.certificate("server"), encoding: .utf8)
        try certificates.add(.init("server", alternativeNames: "DNS:new.example.org"))
        let line = try #require(await service.reload())
        #expect(line.contains("new TLS connections get the certificate of"))
        #expect(line.contains("valid until 20"))
        await #expect(throws: FeedClientError.self) {
            _ = try await FeedClient.connect(
                to: "localhost:\(service.port)",
                configuration: Self.configuration(certificates)
            )
        }
        try Data(old.utf8).write(to: URL(filePath: certificates.certificate("server")))
        let kept = try #require(await service.reload())
        #expect(kept.contains("the TLS certificate stays as it was: The key in"), "\(kept)")
        // The connection from before still works.
        #expect(try await client.createPost(PostDraft(title: "Apple")).id > 0)
        await client.close()
        #expect(await service.stop() == 0)
    }

    @Test("T-TLS-6: a reload under load drops no connection")
    func reloadsUnderLoad() async throws {
        let certificates = try TestCertificates()
        let service = try await SecuredService.start(certificates)
        let load = try RunningProcess(
            Programs.loadGenerator,
            [
                "--target", "localhost:\(service.port)", "--tls", "--ca",
                certificates.certificate("ca"),
            ]
                + ["--clients", "50", "--pipeline", "16", "--posts", "100", "--warmup", "200ms"]
                + ["--duration", "2s", "--progress", "1s", "--timeout", "20s"]
        )
        #expect(await load.line { $0.contains("votes") || $0.contains("/s") } != nil)
        for _ in 0..<3 {
            try certificates.add(.init("server"))
            #expect(await service.reload()?.contains("new TLS connections") == true)
        }
        let (status, output) = await load.finish()
        #expect(status == 0, "\(output)")
        #expect(await service.stop() == 0)
    }

    @Test("loadgen checks the name that it is given, and the certificate of each of two services")
    func loadgenChecksNames() async throws {
        let certificates = try TestCertificates()
        let service = try await SecuredService.start(certificates)
        let other = try await SecuredService.start(certificates)
        let names = "IP:127.0.0.1,DNS:other.example.org"
        try certificates.add(.init("server", alternativeNames: names))
        _ = try #require(await other.reload())
        let flags = ["--tls", "--ca", certificates.certificate("ca"), "-c", "4", "--posts", "10"]
        let (here, there) = ("localhost:\(service.port)", "127.0.0.1:\(other.port)")
        let pairs = ["--rounds", "6", "--aa", "0", "--slice", "100ms", "-w", "0"]
        let cases: [(flags: [String], status: Int32)] = [
            (["--target", "localhost:\(other.port)", "-n", "100", "-w", "0"], 1),
            (
                ["--target", "localhost:\(other.port)", "-n", "100", "-w", "0"]
                    + ["--server-name", "other.example.org"], 0
            ),
            (["--target", here, "--ab", there] + pairs, 0),
        ]
        for one in cases {
            let (status, output) = try await RunningProcess(
                Programs.loadGenerator,
                one.flags + flags
            ).finish()
            #expect(status == one.status, "\(output)")
        }
        #expect(await service.stop() == 0)
        #expect(await other.stop() == 0)
    }

    @Test("T-TLS-7: a start refuses a key that others may read, and an expired certificate")
    func refusesFilesAtStart() async throws {
        let certificates = try TestCertificates()
        try certificates.add(.init("open"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644],
            ofItemAtPath: certificates.key("open")
        )
        try certificates.add(.init("old", days: -1))
        for (name, complaint) in [("open", "so others may use the key"), ("old", "expired at 20")] {
            let process = try RunningProcess(
                Programs.feedService,
                ["--in-memory", "--listen-tls", "127.0.0.1:0"]
                    + ["--tls-cert", certificates.certificate(name)]
                    + ["--tls-key", certificates.key(name)]
            )
            let (status, output) = await process.finish()
            #expect(status == 2)
            #expect(output.joined().contains(complaint), "\(output)")
        }
    }

    @Test("T-TLS-8: an address of other machines needs a proof of who calls")
    func needsAProofOfWhoCalls() async throws {
        let certificates = try TestCertificates()
        try certificates.add(.init("server"))
        let flags =
            ["--in-memory", "--listen-tls", "0.0.0.0:0"]
            + ["--tls-cert", certificates.certificate("server")]
            + ["--tls-key", certificates.key("server")]
        let process = try RunningProcess(Programs.feedService, flags)
        let (status, output) = await process.finish()
        #expect(status == 2)
        #expect(output.joined().contains("Add --service-keys or --tls-client-ca"), "\(output)")
        for more in [["--insecure"], ["--tls-client-ca", certificates.certificate("ca")]] {
            let service = try RunningProcess(Programs.feedService, flags + more)
            #expect(await service.prints("listening on 0.0.0.0:"))
            service.signal(SIGTERM)
            let (status, output) = await service.finish()
            #expect(status == 0)
            #expect(output.joined().contains("--insecure: 0.0.0.0:0 is open") == (more.count == 1))
        }
    }

    /// Takes one TLS connection, choosing of the protocols in its arguments, and prints what comes.
    private static let stranger = """
        import socket, ssl, sys
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        if sys.argv[3:]: context.set_alpn_protocols(sys.argv[3:])
        listener = socket.create_server(("127.0.0.1", 0))
        print("port", listener.getsockname()[1], flush=True)
        plain, _ = listener.accept()
        try:
            with context.wrap_socket(plain, server_side=True) as tls:
                print("received", len(tls.recv(1000)))
        except OSError as error:
            print("received 0:", error)
        """

    @Test(
        "T-TLS-14: a server that has not chosen feed/1 gets no Hello, and so no key",
        arguments: [[], ["h2"], ["feed/1"]]
    )
    func showsItsKeyToNoOtherProtocol(chosen: [String]) async throws {
        let certificates = try TestCertificates()
        try certificates.add(.init("server"))
        let server = try RunningProcess(
            try #require(Programs.command("python3")),
            ["-c", Self.stranger, certificates.certificate("server"), certificates.key("server")]
                + chosen
        )
        let line = try #require(await server.line { $0.hasPrefix("port ") })
        var configuration = Self.configuration(certificates)
        configuration.serviceKey = Secret(bytes: [UInt8](repeating: 7, count: Secret.byteCount))
        configuration.connectTimeout = .seconds(60)
        var problem = ""
        do throws(FeedClientError) {
            let address = "localhost:\(line.dropFirst("port ".count))"
            let client = try await FeedClient.connect(to: address, configuration: configuration)
            await client.close()
        } catch {
            problem = error.description
        }
        let output = await server.finish().output.joined(separator: "\n")
        // Of a server of the protocol the Hello is seen, which it does not answer.
        let isStranger = chosen != ["feed/1"]
        #expect(problem.contains("does not speak feed/1 over TLS") == isStranger, "\(problem)")
        #expect(output.contains("received 0") == isStranger, "\(output)")
    }

    static func configuration(_ certificates: TestCertificates) -> ClientConfiguration {
        var configuration = ClientConfiguration()
        configuration.tls = ClientTLS(authorityPath: certificates.certificate("ca"))
        return configuration
    }
}

/// Clients that show a certificate, and those that show a wrong one.
@Suite(.timeLimit(.minutes(10))) struct MutualTLSTests {
    private static func flags(_ name: String, _ certificates: TestCertificates) -> [String] {
        // The answer to a refused certificate comes after the handshake of the client: it waits.
        ["-cert", certificates.certificate(name), "-key", certificates.key(name), "-ign_eof"]
    }

    private static func isTaken(_ name: String, _ service: SecuredService) async throws -> Bool {
        var configuration = TLSDaysTests.configuration(service.certificates)
        configuration.tls?.certificatePath = service.certificates.certificate(name)
        configuration.tls?.keyPath = service.certificates.key(name)
        do {
            let client = try await FeedClient.connect(
                to: "127.0.0.1:\(service.port)",
                configuration: configuration
            )
            await client.close()
            return true
        } catch {
            return false
        }
    }

    @Test("T-TLS-9: only clients of the authority are served")
    func servesClientsOfItsAuthority() async throws {
        let certificates = try TestCertificates()
        try certificates.add(.init("web"))
        try certificates.addAuthority("other")
        try certificates.add(.init("stranger", authority: "other"))
        let service = try await SecuredService.start(certificates, clientAuthority: "ca")
        #expect(try await Self.isTaken("web", service))
        #expect(try await !Self.isTaken("stranger", service))
        await #expect(throws: FeedClientError.self) {
            _ = try await FeedClient.connect(
                to: "127.0.0.1:\(service.port)",
                configuration: TLSDaysTests.configuration(certificates)
            )
        }
        #expect(await service.process.prints("No TLS connection from 127.0.0.1"))
        #expect(await service.stop() == 0)
    }

    @Test("T-TLS-10: an expired certificate of a client is refused")
    func refusesAnExpiredClient() async throws {
        let certificates = try TestCertificates()
        try certificates.add(.init("old", days: -1))
        let service = try await SecuredService.start(certificates, clientAuthority: "ca")
        // The tools of others show such a certificate; the client of this project does not.
        let (status, output) = try await service.openssl(Self.flags("old", certificates))
        #expect(status != 0)
        #expect(output.contains("certificate expired"), "\(output)")
        #expect(await service.process.prints("certificate has expired"))
        #expect(await service.stop() == 0)
    }

    @Test("T-TLS-11: a certificate of an authority that was replaced is refused from then on")
    func refusesAClientOfAReplacedAuthority() async throws {
        let certificates = try TestCertificates()
        try certificates.addAuthority("clients")
        try certificates.add(.init("web", authority: "clients"))
        let old = certificates.certificate("clients")
        let service = try await SecuredService.start(certificates, clientAuthority: "clients")
        #expect(try await Self.isTaken("web", service))
        try certificates.addAuthority("next")
        try certificates.add(.init("web-next", authority: "next"))
        try FileManager.default.removeItem(atPath: old)
        try FileManager.default.copyItem(atPath: certificates.certificate("next"), toPath: old)
        #expect(await service.reload()?.contains("new TLS connections") == true)
        #expect(try await !Self.isTaken("web", service))
        #expect(try await Self.isTaken("web-next", service))
        #expect(await service.stop() == 0)
    }

    private static func writeKeys(
        _ text: String,
        in certificates: TestCertificates
    ) throws -> String {
        let path = "\(certificates.folder)/service.keys"
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }

    @Test(
        "T-KEY-7: a certificate has the role of its identity, and the reload of both files is one"
    )
    func anIdentityHasARole() async throws {
        let certificates = try TestCertificates()
        try certificates.add(.init("shop", alternativeNames: "URI:spiffe://example.org/shop"))
        let keys = try Self.writeKeys("shop uri:spiffe://example.org/shop\n", in: certificates)
        let receiver = try DatagramReceiver(at: "\(certificates.folder)/notify")
        let service = try await SecuredService.start(
            certificates,
            clientAuthority: "ca",
            ["--service-keys", keys],
            environment: ["NOTIFY_SOCKET": receiver.address]
        )
        var configuration = TLSDaysTests.configuration(certificates)
        configuration.tls?.certificatePath = certificates.certificate("shop")
        configuration.tls?.keyPath = certificates.key("shop")
        let client = try await FeedClient.connect(
            to: "127.0.0.1:\(service.port)",
            configuration: configuration
        )
        #expect(try await client.createFeed(Feed(name: "a")).name == "a")
        #expect(await service.process.prints("Service shop connects with a certificate from 127"))
        #expect(try await offload { try receiver.receive() }.hasPrefix("READY=1\n"))

        _ = try Self.writeKeys("shop uri:spiffe://example.org/shop reader\n", in: certificates)
        #expect(await service.reload()?.contains("new TLS connections get") == true)
        #expect(await service.process.prints("1 service key is valid: shop (reader)"))
        await #expect(throws: FeedClientError.self) {
            _ = try await client.createFeed(Feed(name: "b"))
        }
        await client.close()
        // The end of the reload is told after the lines about it.
        let told = try await offload { try (0..<2).map { _ in try receiver.receive() } }
        #expect(told[0].hasPrefix("RELOADING=1\n") && told[1] == "READY=1", "\(told)")
        #expect(await service.stop() == 0)
        #expect(try await offload { try receiver.receive() } == "STOPPING=1\nSTATUS=Draining")
    }

    @Test("T-KEY-8: identities without an authority for clients are refused")
    func identitiesNeedAnAuthority() async throws {
        let certificates = try TestCertificates()
        let keys = try Self.writeKeys("# none\nshop dns:shop.example.org\n", in: certificates)
        let process = try RunningProcess(
            Programs.feedService,
            ["--in-memory", "--listen", "127.0.0.1:0", "--service-keys", keys]
        )
        let (status, output) = await process.finish()
        #expect(status == 2)
        let complaint =
            "feed-service: --service-keys: \(keys), line 2: an identity is one of a client's "
            + "certificate, and there is no --tls-client-ca."
        #expect(output == [complaint])
    }
}

/// The service as a process of its own, on a free port with TLS, and the certificates of a test.
struct SecuredService {
    let process: RunningProcess
    let port: UInt16
    let certificates: TestCertificates

    /// Makes an authority and a certificate `server`, starts the service and waits for its start line.
    static func start(
        _ certificates: TestCertificates,
        clientAuthority: String? = nil,
        _ arguments: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> SecuredService {
        try certificates.add(.init("server"))
        var flags = [
            "--in-memory", "--listen-tls", "127.0.0.1:0", "--tls-cert",
            certificates.certificate("server"), "--tls-key", certificates.key("server"),
        ]
        if let clientAuthority {
            flags += ["--tls-client-ca", certificates.certificate(clientAuthority)]
        }
        let process = try RunningProcess(
            Programs.feedService,
            flags + arguments,
            environment: environment
        )
        let line = try #require(
            await process.line { $0.contains("listening on") },
            "the service ended without a start line: \(process.output)"
        )
        let address = try #require(line.firstMatch(of: /listening on 127\.0\.0\.1:(\d+) \(TLS\)/))
        return SecuredService(
            process: process,
            port: try #require(UInt16(address.1)),
            certificates: certificates
        )
    }

    /// Asks the service to stop and waits for its exit status.
    func stop() async -> Int32 {
        process.signal(SIGTERM)
        return await process.exitStatus()
    }

    /// The status and the output of `openssl s_client`, which connects and ends.
    func openssl(_ arguments: [String] = []) async throws -> (status: Int32, output: String) {
        let command = try #require(Programs.command("openssl"))
        let process = try RunningProcess(
            command,
            [
                "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile",
                certificates.certificate("ca"), "-verify_return_error", "-alpn", "feed/1",
            ] + arguments
        )
        let (status, output) = await process.finish()
        return (status, output.joined(separator: "\n"))
    }

    /// The status and the output of a program in Python, which gets the port and the authority's file.
    func python(
        _ program: String,
        _ arguments: [String] = []
    ) async throws -> (status: Int32, output: String) {
        let command = try #require(Programs.command("python3"))
        let process = try RunningProcess(
            command,
            ["-c", program, "\(port)", certificates.certificate("ca")] + arguments
        )
        let (status, output) = await process.finish()
        return (status, output.joined(separator: "\n"))
    }

    /// Has the service read its certificate again, and waits for the line that says what came of it.
    func reload() async -> String? {
        let isResult: @Sendable (String) -> Bool = { line in
            line.contains("new TLS connections get") || line.contains("stays as it was")
        }
        let rest = Locked(process.output.count(where: isResult))
        process.signal(SIGHUP)
        // The lines of earlier reloads come first.
        return await process.line { line in
            guard isResult(line) else { return false }
            return rest.withLock { rest in
                rest -= 1
                return rest < 0
            }
        }
    }
}
