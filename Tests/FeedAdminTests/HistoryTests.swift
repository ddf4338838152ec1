import FeedAdmin
import FeedTestSupport
import Foundation
import Testing

/// The ring of the last hour.
struct HistoryTests {
    struct Answer: Decodable, Equatable {
        let columns: [String]
        let causes: [String]
        let facts: [String]
        let next: Int
        let rows: [[Double?]]
    }

    static func read(_ history: History, after number: Int) throws -> Answer {
        let json = history.json(
            after: number,
            causes: ["a \"b\"\n"],
            facts: ["version 1"],
            errors: [("X", 3)]
        )
        return try JSONDecoder().decode(Answer.self, from: Data(json))
    }

    @Test func rowsAreReadOnceEach() throws {
        let history = History(["a", "b"])
        #expect(try Self.read(history, after: -1).rows.isEmpty)
        history.append([1, .nan], at: 1_000)
        history.append([2.5, 0.000_012_5], at: 2_000)
        let all = try Self.read(history, after: -1)
        #expect(all.rows == [[1_000, 1, nil], [2_000, 2.5, 0.000_012_5]])
        #expect(all.next == 2)
        #expect(all.columns == ["a", "b"])
        #expect(all.causes == ["a \"b\"\n"])
        #expect(all.facts == ["version 1"])
        #expect(try Self.read(history, after: 0).rows == [[2_000, 2.5, 0.000_012_5]])
        #expect(try Self.read(history, after: 1).rows.isEmpty)
        // A reader of an earlier run of the service.
        #expect(try Self.read(history, after: 7).rows.count == 2)
    }

    @Test func anHourIsKept() throws {
        let history = History(["a"])
        for number in 0..<History.rowCount + 10 {
            history.append([Double(number)], at: Int64(number))
        }
        let rows = try Self.read(history, after: -1).rows
        #expect(rows.count == History.rowCount)
        #expect(rows.first == [10, 10])
        #expect(rows.last == [3_609, 3_609])
        #expect(try Self.read(history, after: 2).rows.count == History.rowCount)
    }
}
