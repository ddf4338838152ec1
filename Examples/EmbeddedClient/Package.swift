// swift-tools-version: 6.2

import PackageDescription

// A package that embeds FeedProto, as one elsewhere would; there the path is a URL and a version.
let package = Package(
    name: "EmbeddedClient",
    dependencies: [
        .package(name: "feed-service", path: "../..", traits: []),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    ],
    targets: [
        .executableTarget(
            name: "EmbeddedClient",
            dependencies: [
                .product(name: "FeedProto", package: "feed-service"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]
        )
    ]
)
