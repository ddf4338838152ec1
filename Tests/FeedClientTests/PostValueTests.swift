import FeedClient
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// What a post is beside its fields: a value that is kept, compared and dated.
struct PostValueTests {
    private struct Kept: Codable, Equatable {
        var post: Post
        var draft: PostDraft
        var others: [Post]
    }

    @Test(arguments: TestEnvironment.seeds(1...4))
    func aPostComesBackFromAFileAsItWas(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let post = Self.post(&generator)
            let kept = Kept(post: post, draft: PostDraft(post), others: [Post(), Post(id: .max)])
            let json = try JSONEncoder().encode(kept)
            #expect(try JSONDecoder().decode(Kept.self, from: json) == kept)
            let list = try PropertyListEncoder().encode(kept)
            #expect(try PropertyListDecoder().decode(Kept.self, from: list) == kept)
        }
    }

    /// The form of files that apps have: it does not change.
    @Test func aPostIsOneTextInJSON() throws {
        let post = Post(id: 300, feed: "posts", title: "Apple", score: -1, viewer: Viewer())
        let json = #""CKwCEgVwb3N0cyIFQXBwbGVI\/\/\/\/\/\/\/\/\/\/\/\/AYoBAA==""#
        #expect(String(decoding: try JSONEncoder().encode(post), as: UTF8.self) == json)
        #expect(try JSONDecoder().decode(Post.self, from: Data(json.utf8)) == post)
    }

    @Test func whatALaterVersionHasAddedIsLeftOut() throws {
        // Field 1000 of a later contract, behind the id.
        let bytes: [UInt8] = [0x08, 0x07, 0xC0, 0x3E, 0x01]
        let json = try JSONEncoder().encode(Data(bytes))
        #expect(try JSONDecoder().decode(Post.self, from: json) == Post(id: 7))
    }

    @Test(arguments: [[UInt8]([0x08]), [0x22, 0x01, 0xFF], [0x22, 0x01, 0x00]])
    func whatIsNoPostIsRefused(_ bytes: [UInt8]) throws {
        let json = try JSONEncoder().encode(Data(bytes))
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Post.self, from: json) }
    }

    @Test func postsAreTakenApartByTheirIDsAndComparedByTheirFields() {
        let old = Post(id: 1, title: "a")
        let new = Post(id: 1, title: "b")
        #expect(old.id == new.id)
        #expect(Set([old, new, old]).count == 2)
    }

    @Test func timesAreDates() {
        var post = Post()
        post.createTimeMilliseconds = 1_700_000_000_123
        post.updateTimeMilliseconds = -1
        #expect(post.createTime == Date(timeIntervalSince1970: 1_700_000_000.123))
        #expect(post.updateTime == Date(timeIntervalSince1970: -0.001))
        #expect(User(displayName: "Ada").createTime == nil)
        let user = User(displayName: "Ada", createTimeMilliseconds: 2_000)
        #expect(user.createTime == Date(timeIntervalSince1970: 2))
    }

    @Test func anEditNamesWhatItChangesAndStandsOnTheRevision() throws {
        let post = Post(id: 4, feed: "posts", title: "a", text: "b", score: 9, revision: 7)
        let request = try #require(
            UpdatePostRequest(editing: post) { draft in
                draft.text = ""
                draft.commentCount = 2
                draft.title = "a"
            }
        )
        #expect(request.updateMask == [.text, .commentCount])
        #expect(request.post?.id == 4)
        #expect(request.post?.revision == 7)
        #expect(request.post?.commentCount == 2)
        let all = try #require(
            UpdatePostRequest(editing: post) {
                $0 = PostDraft(
                    title: "1",
                    text: "2",
                    linkURL: "3",
                    thumbnailURL: "4",
                    imageURL: "5",
                    commentCount: 6
                )
            }
        )
        #expect(
            all.updateMask == [
                .title, .text, .linkURL, .thumbnailURL, .imageURL, .commentCount,
            ]
        )
        #expect(all.post.map(PostDraft.init) == all.post.map { PostDraft($0) })
        #expect(UpdatePostRequest(editing: post) { $0.title = "a" } == nil)
    }

    /// A post with random fields, a third of which are empty.
    private static func post(_ generator: inout SeededGenerator) -> Post {
        func number(_ most: UInt64 = .max) -> UInt64 {
            generator.oneIn(3) ? 0 : .random(in: 0...most, using: &generator)
        }
        func text() -> String {
            let letters = ["a", "é", "स्त्री", "\u{1F34E}", "\n", "\\"]
            return (0..<number(6)).map { _ in letters[Int(number(5))] }.joined()
        }
        let author = User(
            id: UserID(rawValue: number()),
            displayName: text(),
            createTimeMilliseconds: Int64(bitPattern: number())
        )
        return Post(
            id: PostID(rawValue: number()),
            feed: text(),
            author: generator.oneIn(3) ? nil : author,
            title: text(),
            text: text(),
            linkURL: text(),
            thumbnailURL: text(),
            imageURL: text(),
            score: Int64(bitPattern: number()),
            upvoteCount: number(),
            downvoteCount: number(),
            commentCount: number(),
            createTimeMilliseconds: Int64(bitPattern: number()),
            updateTimeMilliseconds: Int64(bitPattern: number()),
            revision: number(),
            isDeleted: generator.oneIn(2),
            viewer: generator.oneIn(3)
                ? nil
                : Viewer(
                    vote: VoteDirection(rawValue: Int32(number(3))),
                    isRead: generator.oneIn(2),
                    isDismissed: generator.oneIn(2)
                )
        )
    }
}
