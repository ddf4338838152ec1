import FeedProto
import FeedTestSupport
import Testing

/// Page tokens that are altered on purpose.
@Suite(.timeLimit(.minutes(10)))
struct PageTokenTests {
    /// The token of a filtered list of one device is cut so that its scope reads as the end of a title
    /// and the scope of another list of another device.
    @Test("T-CALL-10: a token's title ends where it ended")
    func refusesATokenThatIsCutElsewhere() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            for _ in 0..<3 {
                let request = CreatePostRequest(post: Post(title: "post"))
                try client.send(
                    ClientFrame(
                        id: client.nextID(),
                        request: .createPost(request),
                        actingUserID: 1 << 63
                    )
                )
                #expect(try client.receive()?.status == nil)
            }
            // The scope: order, feed, 1, device, 0x11, author, flags. Its last 26 bytes are those of the
            // front page in TOP, of the device of the rest.
            let front = [UInt8](repeating: 0xFF, count: 8)
            let device: [UInt8] = [1] + front + [1] + [UInt8](repeating: 5, count: 6)
            let author: [UInt8] = [0x80, 0, 0, 0, 0, 0, 0, 0]
            _ = try client.hello(clientID: device)
            let filtered = ListPostsRequest(order: .new, pageSize: 1, authorID: 1 << 63)
            let token = try client.list(filtered).nextPageToken
            #expect(token.count >= 42)
            let cut: [UInt8] = Array(token[..<(token.count - 8)]) + [2] + front + [1]
            let checksum = Array(token[(token.count - 8)...])
            let other: [UInt8] = Array(device[10...]) + [0x11] + author + [0]
            #expect(other.count == 16)
            _ = try client.hello(clientID: other)
            let request = ListPostsRequest(order: .top, pageToken: cut + checksum)
            let answer = try client.call(.listPosts(request))
            #expect(answer.status?.reason == .pageTokenMismatch)
        }
    }
}
