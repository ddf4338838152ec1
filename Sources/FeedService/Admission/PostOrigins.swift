internal import FeedConcurrency
package import FeedRanking

/// The hosts and devices that have made the latest posts, so that an operator can delete all of one.
///
/// In memory only: hosts tell where people are, and a restart forgets them. What services create and
/// import is not noted. A post's place is its id modulo
/// the number of places, so a later post takes the place of an earlier one. A place has 64 bytes, and
/// 4,096 of them are allocated at a time: 8 MiB in all.
package final class PostOrigins: Sendable {
    package struct Origin: Equatable, Sendable {
        /// The host, an address or a network.
        package let host: ClientIdentity
        /// The device; nil where the caller had named none.
        package let device: Device16?

        package init(host: ClientIdentity, device: Device16?) {
            self.host = host
            self.device = device
        }
    }

    private struct Place {
        var id: UInt64
        var time: Int64
        var origin: Origin
    }

    private struct State {
        var chunks: [[Place?]]
        var knownSince: Int64
    }

    package static let count = 131_072
    private static let chunkCount = 4_096

    private let state: Lock<State>

    /// No posts; all that are made from now on are known.
    package init(at time: Int64) {
        let chunks = [[Place?]](repeating: [], count: Self.count / Self.chunkCount)
        state = Lock(State(chunks: chunks, knownSince: time))
    }

    /// The Unix time, in milliseconds, since which all posts are known.
    package var knownSince: Int64 { state.withLock { $0.knownSince } }

    /// Notes who has made a post, and when; O(1).
    package func note(_ id: PostID, _ origin: Origin, at time: Int64) {
        let (chunk, place) = Self.place(of: id)
        state.withLock { state in
            if state.chunks[chunk].isEmpty {
                state.chunks[chunk] = Array(repeating: nil, count: Self.chunkCount)
            }
            if let earlier = state.chunks[chunk][place], earlier.id != id.rawValue {
                state.knownSince = max(state.knownSince, earlier.time + 1)
            }
            state.chunks[chunk][place] = Place(id: id.rawValue, time: time, origin: origin)
        }
    }

    /// Who has made a post; nil where that is not known, O(1).
    package subscript(_ id: PostID) -> Origin? {
        let (chunk, place) = Self.place(of: id)
        return state.withLock { state in
            guard !state.chunks[chunk].isEmpty, let found = state.chunks[chunk][place],
                found.id == id.rawValue
            else { return nil }
            return found.origin
        }
    }

    private static func place(of id: PostID) -> (chunk: Int, place: Int) {
        let number = Int(id.rawValue % UInt64(count))
        return (number / chunkCount, number % chunkCount)
    }
}
