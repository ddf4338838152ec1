import FeedCtl
import FeedProto
import FeedTestSupport
import Testing

/// What `feedctl cluster` says.
@Suite struct ClusterReportTests {
    private static var members: [MemberStatus] { Samples.clusterStatus.members }

    private static func report(_ chains: [UInt64?], failing: Int? = nil) -> VerifyReport {
        var report = VerifyReport()
        report.record = 8_999
        for (place, chain) in chains.enumerated() {
            var row = VerifyReport.Row(members[place])
            row.newest = 9_000
            row.chain = chain
            if place == failing { row.failure = "gone" }
            report.rows.append(row)
        }
        return report
    }

    @Test func aStatusShowsWhoLeadsLearnsAndLags() {
        let text = ReportTests.text(ClusterStatusReport(Samples.clusterStatus))
        #expect(
            text == """
                asked          a, node 00000000000000fe: leader
                leader         a, term 7
                log            records 4711 to 9001, committed 9000, on the service's disk 8990;\
                 123456 bytes
                newest record  8999, chain 0123456789abcdef
                copies         1

                NAME  NODE              ROLE     CONNECTED  SERVICE                 LEVELS  HEAR\
                D MS  LAG BYTES  LAG MS  URL
                a     00000000000000fe  leads    yes        feed1.example.org:7433  1-2         \
                 400          0       0  https://a:7440
                b     00000000000000ff  follows  yes        feed2.example.org:7433  1-2         \
                gone        512     512  https://b:7440
                c     1000000000000000  learns   no         not known               -           \
                   -          -       -  https://10.0.0.3:7440

                """
        )
    }

    @Test func aFollowerKnowsNoLagsAndMayKnowNoLeader() throws {
        var status = Samples.clusterStatus
        status.role = "searching"
        status.leader = ""
        status.heardAgeMilliseconds = 12_000
        let text = ReportTests.text(ClusterStatusReport(status))
        #expect(!text.contains("LAG"))
        #expect(text.contains("leader         none is known, term 7\n"))
        #expect(text.contains("heard of it    12000 ms ago\n"))
        let object = try ReportTests.object(ClusterStatusReport(status))
        #expect(object["leader"] as? String == "")
        #expect(object["heard_age_ms"] as? Int == 12_000)
        #expect(object["chain"] as? String == "0123456789abcdef")
        let members = try #require(object["members"] as? [[String: Any]])
        #expect(members.map { $0["is_service_gone"] as? Bool } == [false, true, false])
    }

    @Test func anAddedNodeIsToldWhatToType() throws {
        let answer = ChangeMembersResponse(node: "00000000000000ff", token: "eyJ9")
        let report = AddedNodeReport(answer, name: "b", url: "https://b:7440")
        let text = ReportTests.text(report)
        #expect(text.hasPrefix("Added b as node 00000000000000ff. It learns,"))
        #expect(text.contains("\n  feed-replica join eyJ9 --config feed-replica.yaml\n"))
        #expect(try ReportTests.object(report)["token"] as? String == "eyJ9")
    }

    @Test func aRemovedNodeIsToldWithWhoStays() {
        let status = Samples.clusterStatus
        let text = ReportTests.text(Sentence.removed(status.members[1], from: status))
        #expect(
            text == """
                Removed b, node 00000000000000ff: its feed-replica ends, and never comes back as that node. The \
                cluster has 2 nodes, 1 of them vote.

                """
        )
    }

    @Test func aTransferSaysWhereTheLeadershipIs() {
        let (a, b) = (Self.members[0], Self.members[1])
        let done = LeaderReport(b, term: 8, wanted: b)
        #expect(done.isDone)
        let place = "Leadership is at b, node 00000000000000ff, in term 8"
        #expect(ReportTests.text(done) == place + ".\n")
        let other = LeaderReport(b, term: 8, wanted: a)
        #expect(!other.isDone)
        #expect(ReportTests.text(other) == place + ", and not at a.\n")
        #expect(LeaderReport(b, term: 8, wanted: nil).isDone)
    }

    @Test func equalLogsAreSaidToBeEqual() throws {
        let report = Self.report([7, 7, 7])
        #expect(report.isDone)
        let text = ReportTests.text(report)
        #expect(text.hasSuffix("\nAll nodes have the same log up to record 8999.\n"))
        #expect(try ReportTests.object(report)["is_equal"] as? Bool == true)
    }

    @Test(
        arguments: [
            ([7, 8, 7], nil, "The logs differ at record 8999: b."),
            ([7, 8], nil, "The logs differ at record 8999: a, b."),
            ([7, 8, 9], nil, "The logs differ at record 8999: a, b, c."),
            ([7, nil, 7], nil, "Not all nodes could be compared."),
            ([7, 7, nil], 2, "Not all nodes could be compared."),
            ([nil, nil], 0, "Not all nodes could be compared."),
        ] as [([UInt64?], Int?, String)]
    )
    func aNodeThatDiffersIsNamed(_ chains: [UInt64?], _ failing: Int?, _ verdict: String) {
        let report = Self.report(chains, failing: failing)
        #expect(!report.isDone)
        let text = ReportTests.text(report)
        #expect(text.contains("\n\(verdict)"))
        #expect(failing == nil || text.contains("not asked: gone"))
    }

    @Test func aMemberIsNamedByNameOrNumber() throws {
        let status = Samples.clusterStatus
        #expect(try status.member(named: "b").node == "00000000000000ff")
        #expect(try status.member(named: "00000000000000ff").name == "b")
        #expect(throws: ClusterFailure.unknownMember("z", names: ["a", "b", "c"])) {
            try status.member(named: "z")
        }
    }

    @Test func failuresNameTheNodeAndTheRemedy() {
        #expect("\(ClusterFailure.noAddress("b"))".contains("the service of b is"))
        #expect("\(ClusterFailure.unsecured("b", "h:1"))".contains("at h:1"))
        #expect("\(ClusterFailure.noLeader(asked: "a", leader: ""))".contains("knows of no leader"))
        #expect("\(ClusterFailure.noLeader(asked: "a", leader: "b"))".contains("names b"))
        #expect("\(ClusterFailure.otherNode("b", "h:1", "c"))".contains("the one of c answers"))
        #expect("\(ClusterFailure.notMoved("a"))".contains("the leader was a"))
    }
}
