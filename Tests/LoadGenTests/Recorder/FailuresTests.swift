import LoadGen
import Testing

@Suite struct FailuresTests {
    @Test func showsWhatAServiceSaysInOneLine() {
        var failures = Failures()
        failures.countServerError("OVERLOADED/\u{1B}[31mno\n")
        failures.countServerError(String(repeating: "x", count: 1_000_000))
        #expect(
            Set(failures.serverErrors.keys)
                == [#"OVERLOADED/\u{1B}[31mno\n"#, String(repeating: "x", count: 100) + "…"]
        )
    }

    @Test func countsTheRestOfManyTextsTogether() {
        var failures = Failures()
        for number in 0..<1_000 { failures.countServerError("reason \(number)") }
        failures.countServerError("reason 7")
        #expect(failures.serverErrors.count == 101)
        #expect(failures.serverErrors["reason 7"] == 2)
        #expect(failures.serverErrors["other errors"] == 900)
    }

    @Test func namesTheFlagsThatLiftALimit() throws {
        var result = try ReportTests().sample()
        #expect(!TextReport(result).rendered().contains("--max-posts-per-hour"))
        result.totals.failures.countServerError("RESOURCE_EXHAUSTED/RATE_LIMITED")
        #expect(TextReport(result).rendered().contains("--max-posts-per-hour"))
    }
}
