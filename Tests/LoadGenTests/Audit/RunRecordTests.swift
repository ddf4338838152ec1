import Foundation
import LoadGen
import Testing

@Suite struct RunRecordTests {
    private func sample() -> RunRecord {
        let tally = VoteTally(acknowledged: 3, scoreSum: .max, squareSum: 1 << 63)
        var record = RunRecord(
            instanceID: .max,
            feed: "",
            startMilliseconds: 5,
            endMilliseconds: 9,
            tallied: .directions,
            posts: [7, 8, 3],
            tallies: [tally, VoteTally(), VoteTally(), tally, VoteTally(), VoteTally()]
        )
        record.feeds = [RunRecord.Feed(name: "books", ids: [7, 8])]
        record.unknown = [0: 2, 5: 1]
        record.failed = [1: 4]
        record.repeated = [3: 1]
        record.createdIDs = [10, 11, 20]
        record.unknownTitles = ["a \"b\"\n", "c"]
        return record
    }

    private func read(_ text: String) throws -> RunRecord {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try text.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        return try RunRecord(readingReport: file.path())
    }

    private func report(_ record: RunRecord) throws -> String {
        var result = RunReport(configuration: try configure([]), environment: Environment())
        result.record = record
        return result.json
    }

    @Test func comesBackFromAReportAsItWas() throws {
        #expect(try read(try report(sample())) == sample())
    }

    @Test(arguments: [
        (#""instance":"ffffffffffffffff""#, #""instance":"x""#),
        (#""tallied":"directions""#, #""tallied":"scores""#),
        (#""posts":[7,2,3,1],"rep"#, #""posts":[7,2,3],"rep"#),
        (#""posts":[7,2,3,1],"rep"#, #""posts":[7,900000000000],"rep"#),
        (#""unknown":[0,2,5,1]"#, #""unknown":[0,2,6,1]"#),
        (#""unknown":[0,2,5,1]"#, #""unknown":[0,2,0,1]"#),
        (#""unknown":[0,2,5,1]"#, #""unknown":[0,18446744073709551615]"#),
        (#""created":[10,2,20,1]"#, #""created":[18446744073709551615,2]"#),
        (#""created":[10,2,20,1]"#, #""created":[10,99999998]"#),
        (#""acknowledged":[3,"#, #""acknowledged":[3,3,"#),
        (#""acknowledged":[3,"#, #""acknowledged":[-3,"#),
    ])
    func refusesWhatDoesNotFitTogether(_ part: String, _ replacement: String) throws {
        let text = try report(sample()).filter { !$0.isWhitespace }
        #expect(text.contains(part))
        #expect(throws: RunFailure.self) { try read(text.replacing(part, with: replacement)) }
    }

    @Test func keepsManyIDsShort() {
        #expect(NumberRanges.encode(1...1_000_000) == [1, 1_000_000])
        #expect(NumberRanges.encode([5, 6, 4, 9]) == [5, 2, 4, 1, 9, 1])
        #expect(NumberRanges.decode([5, 2, 4, 1, 9, 1], limit: 4) == [5, 6, 4, 9])
        #expect(NumberRanges.decode([5, 2, 4, 1, 9, 1], limit: 3) == nil)
        #expect(NumberRanges.decode([], limit: 0) == [])
        #expect(NumberRanges.encode([.max - 1, .max, 0, 1]) == [.max - 1, 2, 0, 2])
        #expect(NumberRanges.decode([.max, 1], limit: 9) == nil)
    }
}
