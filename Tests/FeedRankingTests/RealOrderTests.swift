import FeedRanking
import FeedTestSupport
import Foundation
import Testing

/// Each order and window of real posts, against a computation in Python from the formulas.
@Suite(.timeLimit(.minutes(10)))
struct RealOrderTests {
    private static let python = Programs.command("python3")

    /// Prints the posts of a file, then for each list its name, its window and the places of its
    /// posts; the clock stands at the newest post.
    private static let script = """
        import csv, decimal, json, math, sys
        csv.field_size_limit(1 << 24)
        decimal.getcontext().prec = 60
        posts = []
        for row in csv.DictReader(open(sys.argv[1], newline='', encoding='utf-8-sig')):
            time = int(float(row['created_utc']) * 1000)
            posts.append((row['title'], time, *(int(row[n]) for n in ('ups', 'downs', 'num_comments'))))
        print(json.dumps(posts))

        def hot(title, time, ups, downs, comments):
            score = decimal.Decimal(ups - downs)
            order = max(abs(score), 1).log10().copy_sign(score) if score else decimal.Decimal(0)
            rank = order + (decimal.Decimal(time // 1000) - 1134028003) / 45000
            return -rank.quantize(decimal.Decimal('1e-7'), decimal.ROUND_HALF_EVEN)

        def best(title, time, ups, downs, comments):
            n, z = ups + downs, 1.281551565545
            if ups == 0: return 0.0
            p = ups / n
            left = p + z * z / (2 * n)
            right = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
            return -max(0.0, min(1.0, (left - right) / (1 + z * z / n)))

        def controversy(title, time, ups, downs, comments):
            if ups <= 0 or downs <= 0: return 0.0
            return -float(ups + downs) ** (min(ups, downs) / max(ups, downs))

        def rising(title, time, ups, downs, comments):
            votes = decimal.Decimal(1 + ups).ln() / decimal.Decimal(2).ln()
            return -(votes + decimal.Decimal(time) / 3600000)

        orders = {
            'top': lambda title, time, ups, downs, comments: (downs - ups, title.encode()),
            'new': lambda title, time, *rest: -time,
            'old': lambda title, time, *rest: time,
            'hot': hot, 'best': best, 'controversial': controversy, 'rising': rising,
            'discussed': lambda title, time, ups, downs, comments: -comments,
        }
        windows = {'': math.inf, 'hour': 1, 'day': 24, 'week': 168, 'month': 720, 'year': 8760}
        newest = max(post[1] for post in posts)
        for name, key in orders.items():
            for window, hours in windows.items():
                if window and name not in ('top', 'controversial', 'discussed'): continue
                young = [n for n, post in enumerate(posts) if newest - post[1] < hours * 3600000]
                ties = (lambda n: -n) if name == 'new' else (lambda n: n)
                young.sort(key=lambda n: (key(*posts[n]), ties(n)))
                print(json.dumps([name, window, *map(str, young)]))
        """

    /// A post of the file, as Python found it.
    private struct Post: Decodable {
        var title: String
        var time: Int64
        var ups: UInt64
        var downs: UInt64
        var comments: UInt64

        init(from decoder: any Decoder) throws {
            var fields = try decoder.unkeyedContainer()
            title = try fields.decode(String.self)
            time = try fields.decode(Int64.self)
            ups = try fields.decode(UInt64.self)
            downs = try fields.decode(UInt64.self)
            comments = try fields.decode(UInt64.self)
        }
    }

    @Test(
        .enabled(if: !RealPosts.files.isEmpty, "\(RealPosts.absence)"),
        .enabled(if: RealOrderTests.python != nil, "there is no python3"),
        arguments: RealPosts.files
    )
    func areThoseOfTheFormulas(file: URL) async throws {
        let python = try #require(Self.python)
        let process = try RunningProcess(python, ["-c", Self.script, file.path()])
        let (status, output) = await process.finish()
        try #require(status == 0, "\(output.suffix(3))")
        let lines = output.filter { !$0.isEmpty }.map { Data($0.utf8) }
        let posts = try JSONDecoder().decode([Post].self, from: try #require(lines.first))
        let store = try Self.store(of: posts)
        let listCount = Order.allCases.count + 3 * Window.allCases.count
        #expect(lines.count == 1 + listCount)
        for line in lines.dropFirst() {
            let list = try JSONDecoder().decode([String].self, from: line)
            let order = try #require(Order.allCases.first { "\($0)" == list[0] })
            let window = Window.allCases.first { "\($0)" == list[1] }
            let ids = try list.dropFirst(2).map { try #require(UInt64($0)) + 1 }
            let walked = try Self.walk(store, order, window)
            #expect(walked == ids, "\(file.lastPathComponent): \(list[0]) \(list[1])")
        }
    }

    /// A store with the posts under the ids from 1 on, whose clock stands at the newest post.
    private static func store(of posts: [Post]) throws -> FeedStore {
        let newest = posts.map(\.time).max() ?? 0
        let store = FeedStore(stripeCount: 16) { newest }
        let imported = posts.map { post in
            ImportedPost(
                content: PostContent(title: post.title, commentCount: post.comments),
                createTimeMilliseconds: post.time,
                upvoteCount: post.ups,
                downvoteCount: post.downs
            )
        }
        try store.importPosts(imported, in: FeedID(rawValue: 0))
        return store
    }

    /// The ids of a list, page by page.
    private static func walk(
        _ store: FeedStore,
        _ order: Order,
        _ window: Window?
    ) throws -> [UInt64] {
        var ids: [UInt64] = []
        var page = PostPage()
        let feed = FeedID(rawValue: 0)
        var query = PageQuery(feed: feed, order: order, window: window, size: 100)
        while true {
            var allowance = RefreshAllowance(keyCount: .max)
            _ = try store.page(query, into: &page, allowance: &allowance)
            ids += page.rows.map(\.id.rawValue)
            guard let next = page.next else { return ids }
            query.start = .cursor(next)
        }
    }
}
