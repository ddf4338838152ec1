// swift-tools-version: 6.2

import PackageDescription

/// What every Swift target is built with: each import is deliberate, and unsafe code is marked.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
]

/// What tests that wait more than they compute are built with.
///
/// The optimizer would take longer than it saves. No other target depends on a test, so the flag reaches no
/// user of the libraries.
let waitingTestSettings: [SwiftSetting] =
    settings + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// How the service is linked: its functions are bound at its start.
///
/// A function that is bound by its first call has the registers saved on the stack by the dynamic linker,
/// with the end of the secret that was copied last. No library depends on the program.
let serviceLinkerSettings: [LinkerSetting] = [
    .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"], .when(platforms: [.linux]))
]

/// FEED_CODEC=swift: frames go through the codec in Swift.
///
/// protobuf-c is built beside it, as CodecTests needs both.
let usesSwiftCodec = Context.environment["FEED_CODEC"] == "swift"
let codecSettings: [SwiftSetting] = usesSwiftCodec ? [.define("FEED_CODEC_SWIFT")] : []

/// Whether clients have SwiftNIO's transport: where the platform is not Linux, or a variable asks for it.
///
/// No other build fetches SwiftNIO.
#if os(Linux)
let isLinux = true
#else
let isLinux = false
#endif
let hasNIO = !isLinux || Context.environment["FEED_TRANSPORT"] == "nio"

/// What only Linux has: protobuf-c elsewhere gives way to the codec in Swift.
let onLinux = TargetDependencyCondition.when(platforms: [.linux])

/// A product of a package that only the service, its tools and tests need.
func program(_ name: String, of package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Programs"]))
}

func observation(_ name: String, of package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Observation"]))
}

let package = Package(
    name: "feed-service",
    // Of the client libraries; the service and its tools are built on Linux alone.
    platforms: [.iOS(.v18), .macOS(.v15)],
    products: [
        .library(name: "FeedProto", targets: ["FeedProto"]),
        .library(name: "FeedClient", targets: ["FeedClient"]),
        .library(name: "FeedClientObservation", targets: ["FeedClientObservation"]),
        .library(name: "FeedClientTesting", targets: ["FeedClientTesting"]),
        .library(name: "FeedOffline", targets: ["FeedOffline"]),
        .executable(name: "feed-service", targets: ["FeedService"]),
        .executable(name: "loadgen", targets: ["LoadGenCommand"]),
        .executable(name: "feedctl", targets: ["FeedCtl"]),
    ],
    // An app asks for none, so SwiftPM fetches no package but those of the client.
    traits: [
        .default(enabledTraits: isLinux ? ["Observation", "Programs"] : []),
        .trait(name: "Observation", description: "The packages of FeedClientObservation."),
        .trait(name: "Programs", description: "The packages of the service, its tools and tests."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        // Of its formats none is needed: FeedSettings reads YAML by itself, for the number of each line.
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        // A target depends on targets of lower layers, and, in a layer whose comment says `in order`,
        // on those above it. scripts/graph.sh reads these comments.

        // Layer 0, in order: C libraries, the C generated from proto/feed.proto, what locks and
        // threads are made of, addresses and what a client needs of a transport, TLS, and text that is
        // safe to print.
        .systemLibrary(
            name: "CLibUV",
            pkgConfig: "libuv",
            providers: [.apt(["libuv1-dev"]), .brew(["libuv"])]
        ),
        .systemLibrary(
            name: "CProtobufC",
            pkgConfig: "libprotobuf-c",
            providers: [.apt(["libprotobuf-c-dev"]), .brew(["protobuf-c"])]
        ),
        .target(name: "CFeedProto", dependencies: ["CProtobufC"]),
        .systemLibrary(name: "CPrefetch"),
        .systemLibrary(
            name: "CXXHash",
            pkgConfig: "libxxhash",
            providers: [.apt(["libxxhash-dev"]), .brew(["xxhash"])]
        ),
        .systemLibrary(name: "CFileBirth"),
        .systemLibrary(name: "CThread"),
        .systemLibrary(name: "CWait"),
        .systemLibrary(
            name: "CSQLite",
            // Apple's systems have SQLite and its header among their own.
            pkgConfig: isLinux ? "sqlite3" : nil,
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]
        ),
        .systemLibrary(
            name: "CZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),
        .systemLibrary(
            name: "COpenSSL",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .systemLibrary(
            name: "CSodium",
            pkgConfig: "libsodium",
            providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]
        ),

        // Locks, threads and clocks.
        .target(
            name: "FeedConcurrency",
            dependencies: ["CPrefetch", .target(name: "CThread", condition: onLinux)],
            swiftSettings: settings
        ),

        // Addresses and errors of the network, and what a client needs of a transport.
        .target(name: "FeedNetwork", dependencies: ["FeedConcurrency"], swiftSettings: settings),

        // TLS of a connection, without its socket.
        .target(
            name: "FeedTLS",
            dependencies: ["COpenSSL", "FeedNetwork"],
            swiftSettings: settings
        ),

        // Text of others made safe to print.
        .target(name: "FeedText", swiftSettings: settings),

        // How files, a journal and a database fail.
        .target(name: "FeedStorage", dependencies: ["FeedConcurrency"], swiftSettings: settings),

        // Spans of arrays, which Apple's systems have from 26 on.
        .target(
            name: "FeedSpans",
            swiftSettings: settings + [.enableExperimentalFeature("Lifetimes")]
        ),

        // The types of the ids of posts, users and sessions.
        .target(name: "FeedIdentifiers", swiftSettings: settings),

        // The keys by which lists are sorted.
        .target(name: "FeedOrders", swiftSettings: settings),

        // Layer 1: the wire, the ranking, the transport and files of posts. None knows another.
        .target(
            name: "FeedProto",
            dependencies: [
                "FeedIdentifiers", "FeedSpans", .target(name: "CFeedProto", condition: onLinux),
            ],
            swiftSettings: settings + codecSettings
        ),
        .target(
            name: "FeedRanking",
            dependencies: [
                "CPrefetch", "FeedConcurrency", "FeedIdentifiers", "FeedOrders", "FeedSpans",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "FeedTransport",
            dependencies: ["CLibUV", "FeedConcurrency", "FeedNetwork", "FeedTLS"],
            swiftSettings: settings
        ),
        .target(name: "FeedDataset", dependencies: ["FeedText"], swiftSettings: settings),

        // Layer 1: settings of a program from flags, variables and a file.
        .target(
            name: "FeedSettings",
            dependencies: [
                "FeedConcurrency",
                program("Configuration", of: "swift-configuration"),
                program("Yams", of: "Yams"),
            ],
            swiftSettings: settings
        ),

        // Layer 1: accounts and sessions.
        .target(
            name: "FeedAccounts",
            dependencies: ["CSodium", "FeedConcurrency"],
            swiftSettings: settings
        ),

        // Layer 1: what the durable state stands on.
        .target(
            name: "FeedJournal",
            dependencies: ["CFileBirth", "CXXHash", "FeedStorage"],
            swiftSettings: settings
        ),
        .target(
            name: "FeedSQLite",
            dependencies: ["CSQLite", "FeedSpans", "FeedStorage"],
            swiftSettings: settings
        ),

        // Layer 1: the words of a service and its replica.
        .target(
            name: "FeedReplica",
            dependencies: ["CWait"],
            swiftSettings: settings
        ),

        // Layer 2: the operator's pages, the log of the ranking's changes, what calls ask for, and the
        // transport of clients.
        .target(
            name: "FeedAdmin",
            dependencies: ["FeedConcurrency", "FeedTransport"],
            resources: [.embedInCode("Dashboard/dashboard.html")],
            swiftSettings: settings
        ),
        .target(
            name: "FeedLog",
            dependencies: ["FeedAccounts", "FeedConcurrency", "FeedRanking"],
            swiftSettings: settings
        ),

        .target(
            name: "FeedCalls",
            dependencies: [
                "FeedConcurrency", "FeedOrders", "FeedProto", "FeedRanking", "FeedSpans",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "FeedClientTransport",
            dependencies: ["FeedNetwork"]
                + (hasNIO ? ["FeedClientNIO"] : ["FeedTLS", "FeedTransport"]),
            swiftSettings: settings + (hasNIO ? [.define("FEED_TRANSPORT_NIO")] : [])
        ),

        // Layer 3: the durable state, and what a program calls the service with.
        .target(
            name: "FeedState",
            dependencies: [
                "FeedAccounts", "FeedConcurrency", "FeedLog", "FeedRanking", "FeedJournal",
                "FeedReplica", "FeedSQLite",
                program("HeapModule", of: "swift-collections"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "FeedClient",
            dependencies: [
                "FeedClientTransport", "FeedConcurrency", "FeedNetwork", "FeedProto",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings
        ),

        // Layer 4, in order: spans and metrics of a client, a client in memory for the tests of programs,
        // a copy on disk for programs without a network, the import of files, and the load of the
        // service and its audit.
        .target(
            name: "FeedClientObservation",
            dependencies: [
                "FeedClient", "FeedConcurrency", "FeedProto",
                observation("Metrics", of: "swift-metrics"),
                observation("Tracing", of: "swift-distributed-tracing"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "FeedClientTesting",
            dependencies: [
                "FeedCalls", "FeedClient", "FeedConcurrency", "FeedProto", "FeedRanking",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "FeedOffline",
            dependencies: [
                "FeedClient", "FeedConcurrency", "FeedOrders", "FeedProto", "FeedSQLite",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "FeedImport",
            dependencies: ["FeedClient", "FeedDataset", "FeedProto"],
            swiftSettings: settings
        ),
        .target(
            name: "LoadGen",
            dependencies: [
                "CPrefetch", "CZlib", "FeedClient", "FeedConcurrency", "FeedDataset", "FeedImport",
                "FeedProto", "FeedTLS", "FeedText", "FeedTransport",
                program("DequeModule", of: "swift-collections"),
                program("HeapModule", of: "swift-collections"),
                program("Histogram", of: "hdrhistogram-swift"),
            ],
            resources: [
                .embedInCode("Page/Web/report.html"), .embedInCode("Page/Web/report.css"),
                .embedInCode("Page/Web/chart.js"), .embedInCode("Page/Web/report.js"),
            ],
            swiftSettings: settings
        ),

        // Layer 5: the programs that join them.
        .executableTarget(
            name: "FeedService",
            dependencies: [
                "FeedAccounts", "FeedAdmin", "FeedCalls", "FeedConcurrency", "FeedJournal",
                "FeedLog", "FeedOrders", "FeedProto", "FeedRanking", "FeedSettings", "FeedState",
                "FeedTLS", "FeedTransport",
                program("ArgumentParser", of: "swift-argument-parser"),
                program("DequeModule", of: "swift-collections"),
                program("Logging", of: "swift-log"),
            ],
            swiftSettings: settings,
            linkerSettings: serviceLinkerSettings
        ),
        .executableTarget(
            name: "LoadGenCommand",
            dependencies: [
                "FeedConcurrency", "FeedText", "LoadGen",
                program("ArgumentParser", of: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),

        .executableTarget(
            name: "FeedCtl",
            dependencies: [
                "FeedClient", "FeedConcurrency", "FeedDataset", "FeedImport", "FeedOffline",
                "FeedProto", "FeedText",
                program("ArgumentParser", of: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),

        // Layer 5: a program of tests, which sends an outbox and is killed meanwhile.
        .executableTarget(
            name: "OutboxProgram",
            dependencies: ["FeedClient", "FeedOffline", "FeedProto"],
            path: "Tests/OutboxProgram",
            swiftSettings: settings
        ),

        // Layer 5: the program of the tutorial in FeedClient's documentation.
        .executableTarget(
            name: "FirstClient",
            dependencies: ["FeedClient", "FeedProto"],
            path: "Examples/FirstClient",
            swiftSettings: settings
        ),

        // Layer 5: a reader of posts for a terminal, for authors of clients to copy from.
        .executableTarget(
            name: "Reader",
            dependencies: ["FeedClient", "FeedOffline", "FeedProto"],
            path: "Examples/Reader",
            swiftSettings: settings
        ),

        // Layer 6: what a call through the client library costs.
        .executableTarget(
            name: "ClientBenchmark",
            dependencies: ["FeedClient", "FeedConcurrency", "FeedProto"],
            path: "Benchmarks/ClientBenchmark",
            swiftSettings: settings
        ),

        // Layer 5, in order: what tests share.
        .target(
            name: "FeedTestSupport",
            dependencies: ["FeedProto"],
            path: "Tests/FeedTestSupport",
            swiftSettings: settings
        ),
        .target(
            name: "FeedRankingModel",
            dependencies: ["FeedOrders", "FeedRanking"],
            path: "Tests/FeedRankingModel",
            swiftSettings: settings
        ),
        .target(name: "CMallocHook", path: "Tests/CMallocHook"),
        .target(name: "CFaultVFS", dependencies: ["CSQLite"], path: "Tests/CFaultVFS"),
        .target(
            name: "FeedDiskFaults",
            dependencies: ["FeedJournal", "FeedTestSupport", "CFaultVFS"],
            path: "Tests/FeedDiskFaults",
            swiftSettings: settings
        ),
        .target(
            name: "FakeReplica",
            dependencies: ["FeedReplica", "FeedConcurrency", "FeedTestSupport"],
            path: "Tests/FakeReplica",
            swiftSettings: settings
        ),

        // Layer 6: tests.
        .testTarget(
            name: "FeedConcurrencyTests",
            dependencies: ["FeedConcurrency", "FeedTestSupport", "CThread"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FeedProtoTests",
            dependencies: ["FeedProto", "FeedTestSupport", "CMallocHook"],
            exclude: ["Golden"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FeedRankingTests",
            dependencies: [
                "FeedRanking", "FeedConcurrency", "FeedOrders", "FeedRankingModel",
                "FeedTestSupport", "CMallocHook",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FeedLogTests",
            dependencies: [
                "FeedLog", "FeedAccounts", "FeedRanking", "FeedRankingModel", "FeedTestSupport",
                "CMallocHook",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FeedTLSTests",
            dependencies: ["COpenSSL", "FeedTLS", "FeedTestSupport"],
            swiftSettings: waitingTestSettings
        ),
        .testTarget(
            name: "FeedTransportTests",
            dependencies: ["FeedTransport", "FeedConcurrency", "FeedTLS", "FeedTestSupport"],
            swiftSettings: waitingTestSettings
        ),
        .testTarget(
            name: "FeedAdminTests",
            dependencies: ["FeedAdmin", "FeedTransport", "FeedTestSupport"],
            swiftSettings: waitingTestSettings
        ),
        .testTarget(
            name: "FeedAccountsTests",
            dependencies: ["FeedAccounts", "FeedConcurrency", "FeedTestSupport"],
            swiftSettings: waitingTestSettings
        ),
        .testTarget(
            name: "FeedSettingsTests",
            dependencies: ["FeedSettings", "FeedTestSupport"],
            swiftSettings: waitingTestSettings
        ),
        .testTarget(
            name: "FeedDatasetTests",
            dependencies: ["FeedDataset", "FeedTestSupport"],
            swiftSettings: waitingTestSettings
        ),
        .testTarget(
            name: "FeedJournalTests",
            dependencies: ["FeedJournal", "FeedDiskFaults", "FeedTestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FeedReplicaTests",
            dependencies: [
                "FeedReplica", "FakeReplica", "FeedConcurrency", "FeedTestSupport", "CMallocHook",
            ],
            swiftSettings: waitingTestSettings
        ),
        .testTarget(
            name: "FeedSQLiteTests",
            dependencies: ["FeedSQLite", "FeedJournal", "FeedDiskFaults", "FeedTestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FeedStateTests",
            dependencies: [
                "FeedState", "FeedAccounts", "FeedConcurrency", "FeedLog", "FeedOrders",
                "FeedRanking", "FeedJournal", "FeedReplica", "FeedSQLite", "FakeReplica",
                "FeedDiskFaults", "FeedTestSupport",
            ],
            exclude: ["Golden"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FeedServiceTests",
            dependencies: [
                "FeedService", "FeedAccounts", "FeedCalls", "FeedConcurrency", "FeedJournal",
                "FeedLog", "FeedProto", "FeedRanking", "FeedReplica", "FeedState", "FeedTLS",
                "FeedTransport", "FakeReplica", "FeedDiskFaults", "FeedTestSupport", "CMallocHook",
                program("Logging", of: "swift-log"),
            ],
            swiftSettings: waitingTestSettings
        ),
        .testTarget(
            name: "FeedClientTests",
            dependencies: [
                "FeedClient", "FeedClientTesting", "FeedClientTransport", "FeedConcurrency",
                "FeedNetwork", "FeedService", "FeedProto", "FeedTLS", "FeedTransport",
                "FeedTestSupport",
                program("Logging", of: "swift-log"),
            ],
            swiftSettings: waitingTestSettings
        ),
        .testTarget(
            name: "FeedClientObservationTests",
            dependencies: [
                "FeedClient", "FeedClientObservation", "FeedClientTesting", "FeedProto",
                observation("InMemoryTracing", of: "swift-distributed-tracing"),
                observation("Metrics", of: "swift-metrics"),
                observation("MetricsTestKit", of: "swift-metrics"),
                observation("Tracing", of: "swift-distributed-tracing"),
            ],
            swiftSettings: waitingTestSettings
        ),
        .testTarget(
            name: "FeedOfflineTests",
            dependencies: [
                "FeedClient", "FeedClientTesting", "FeedOffline", "FeedProto", "FeedSQLite",
                "FeedTestSupport",
            ],
            swiftSettings: waitingTestSettings
        ),
        .testTarget(
            name: "FeedCtlTests",
            dependencies: [
                "FeedCtl", "FeedClient", "FeedDataset", "FeedImport", "FeedOffline", "FeedProto",
                "FeedTestSupport", "FeedText",
            ],
            exclude: ["Golden"],
            swiftSettings: waitingTestSettings
        ),
        .testTarget(
            name: "LoadGenTests",
            dependencies: [
                "LoadGen", "LoadGenCommand", "FeedClient", "FeedDataset", "FeedImport", "FeedProto",
                "FeedTransport", "FeedTestSupport",
                program("ArgumentParser", of: "swift-argument-parser"),
                program("Histogram", of: "hdrhistogram-swift"),
            ],
            exclude: ["Golden"],
            swiftSettings: waitingTestSettings
        ),
        // What the five apps do, over TCP, with a service in a process of its own.
        .testTarget(
            name: "AppTests",
            dependencies: ["FeedClient", "FeedOffline", "FeedProto", "FeedTestSupport"],
            swiftSettings: waitingTestSettings
        ),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "FeedClient", "FeedProto", "FeedJournal", "FeedService", "FeedSettings",
                "FeedSQLite", "FeedState", "FeedTestSupport", "FeedTransport",
                program("Logging", of: "swift-log"),
            ],
            swiftSettings: waitingTestSettings
        ),
    ]
)

if hasNIO {
    package.dependencies += [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ]
    // Apple's systems have sockets of their own.
    let sockets: Target.Dependency
    if isLinux {
        sockets = .product(name: "NIOPosix", package: "swift-nio")
    } else {
        sockets = .product(
            name: "NIOTransportServices",
            package: "swift-nio-transport-services"
        )
        package.dependencies.append(
            .package(
                url: "https://github.com/apple/swift-nio-transport-services",
                from: "1.26.0"
            )
        )
    }
    package.targets.append(
        .target(
            name: "FeedClientNIO",
            dependencies: [
                "FeedConcurrency", "FeedNetwork", sockets,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ],
            swiftSettings: settings
        )
    )
}

// The sanitizers compile what their tests reach: scripts/test.sh names the targets to leave out.
let leftOut = (Context.environment["FEED_WITHOUT_TARGETS"] ?? "")
    .split(whereSeparator: \.isWhitespace).map(String.init)
package.targets.removeAll { leftOut.contains($0.name) }
package.products.removeAll { product in
    let library = (product as? Product.Library)?.targets ?? []
    let program = (product as? Product.Executable)?.targets ?? []
    return (library + program).contains(where: leftOut.contains)
}
