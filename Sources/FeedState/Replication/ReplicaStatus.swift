internal import FoundationEssentials

/// Who belongs to the cluster, and how far it is, as this node's replica knows it: the document of STATUS_IS.
///
/// docs/REPLICA.md says what each member of the document is.
package struct ReplicaStatus: Equatable, Sendable, Decodable {
    package struct Member: Equatable, Sendable, Decodable {
        @NodeDigits package var node: UInt64
        package var name: String
        package var url: String
        package var isVoter: Bool
        package var isConnected: Bool
        /// What its service has said; nil as long as it has said nothing.
        package var service: Service?
        package var serviceAgeSeconds: Double?
        /// The rest is known to the leader alone.
        package var match: UInt64?
        package var state: String?
        package var lagByteCount: Int64?
        package var lagSeconds: Double?

        private enum CodingKeys: String, CodingKey {
            case node, name, url, service, match, state
            case isVoter = "voter"
            case isConnected = "connected"
            case serviceAgeSeconds = "service_age_seconds"
            case lagByteCount = "lag_bytes"
            case lagSeconds = "lag_seconds"
        }
    }

    package struct Service: Equatable, Sendable, Decodable {
        package var address: String?
        package var lowestLevel: UInt64?
        package var highestLevel: UInt64?
        /// Whether it has ended or is silent; nil where it is not.
        package var isGone: Bool?

        private enum CodingKeys: String, CodingKey {
            case address
            case isGone = "gone"
            case lowestLevel = "lowest_level"
            case highestLevel = "highest_level"
        }
    }

    /// This node.
    @NodeDigits package var node: UInt64
    package var name: String
    package var cluster: String
    package var role: String
    package var term: UInt64
    /// 0 where none is known.
    @NodeDigits package var leader: UInt64
    package var firstRecord: UInt64
    package var lastRecord: UInt64
    package var committedRecord: UInt64
    package var durableRecord: UInt64
    package var logByteCount: Int64
    package var heardAgeSeconds: Double
    package var copyCount: Int
    /// By their names.
    package var members: [Member]

    private enum CodingKeys: String, CodingKey {
        case node, name, cluster, role, term, leader, members
        case firstRecord = "first"
        case lastRecord = "last"
        case committedRecord = "committed"
        case durableRecord = "durable"
        case logByteCount = "log_bytes"
        case heardAgeSeconds = "heard_age_seconds"
        case copyCount = "copies"
    }

    /// The status of a document; nil where it is another one.
    package init?(json: [UInt8]) {
        guard let status = try? JSONDecoder().decode(Self.self, from: Data(json)) else {
            return nil
        }
        self = status
    }
}

extension ReplicaStatus {
    /// What clients of a node connect to, if that is known.
    package func address(of node: UInt64) -> String? {
        let address = members.first { $0.node == node && node != 0 }?.address
        return address?.isEmpty == false ? address : nil
    }

    /// The newest level that the services of all members read, learners among them; 0 as long as one of them
    /// has not said it, or is not connected: it may come back as an older program.
    package var commonLevel: UInt32 {
        let levels = members.map { $0.isConnected ? $0.service?.highestLevel ?? 0 : 0 }
        return UInt32(clamping: levels.min() ?? 0)
    }
}

extension ReplicaStatus.Member {
    /// What clients connect to; empty if its service has not said it.
    package var address: String { service?.address ?? "" }
}

/// The number of a node, which a document has as hexadecimal digits.
@propertyWrapper
package struct NodeDigits: Equatable, Sendable, Decodable {
    package var wrappedValue: UInt64

    package init(wrappedValue: UInt64) { self.wrappedValue = wrappedValue }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let digits = try container.decode(String.self)
        guard let number = UInt64(digits, radix: 16) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "\"\(digits)\" has other characters than hexadecimal digits"
            )
        }
        wrappedValue = number
    }
}
