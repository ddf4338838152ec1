import FeedClient
import FeedProto

@main
struct FirstClient {
    static func main() async throws {
        let address = CommandLine.arguments.dropFirst().first ?? FeedClient.defaultAddress

        // Make a client.
        var configuration = ClientConfiguration()
        configuration.clientName = "first-client/1.0"
        configuration.clientID = ClientID()
        let client = try FeedClient(to: address, configuration: configuration)

        // Post, and vote.
        let apple = try await client.createPost(PostDraft(title: "Apple"))
        let pear = try await client.createPost(PostDraft(title: "Pear"))
        try await client.vote(on: pear.id, .up)
        let counts = try await client.vote(on: pear.id, .up)
        print("\(pear.title) has \(counts.score) points.")

        // Read the list, page by page.
        for try await post in client.posts(in: "posts", order: .top) {
            print("\(post.score) \(post.title)")
        }

        // Handle what goes wrong.
        do throws(FeedClientError) {
            try await client.vote(on: 999_999, .up)
        } catch {
            switch error {
            case .refused(let status): print("Refused: \(status.message)")
            default: print("\(error) Safe to repeat: \(error.effect == .none).")
            }
        }

        // Mark what was read.
        let unreadCount = try await client.mark([apple.id], as: .read)
        print("\(unreadCount) left to read.")
        await client.close()
    }
}
