import FakeReplica
import FeedReplica

/// The bytes of every kind, as replica/wire/frame_test.go has them.
enum GoldenWords {
    static let cluster = ClusterID(Array("0123456789abcdef".utf8))

    static let ofService: [(word: ServiceWord, body: String, bytes: String)] = [
        (
            .hello(ReplicaHello(applied: 0x0203, levels: 1...2, cluster: cluster, address: "a:1")),
            "",
            """
            34000000 01 0100000000000000 0302000000000000 0100000000000000 0200000000000000 \
            30313233343536373839616263646566 613a31
            """
        ),
        (
            .propose(term: 7, index: 258), "xy",
            "13000000 02 0700000000000000 0201000000000000 7879"
        ),
        (.durable(258), "", "09000000 03 0201000000000000"),
        (.read(9), "", "09000000 04 0900000000000000"),
        (
            .member(term: 7, index: 8, .add, node: 0, text: "b\nu"), "",
            """
            24000000 05 0700000000000000 0800000000000000 0100000000000000 0000000000000000 \
            620a75
            """
        ),
        (.transfer(node: 3), "", "09000000 06 0300000000000000"),
        (.status(request: 4), "", "09000000 07 0400000000000000"),
        (
            .copy(request: 5, index: 6, path: "/s"), "",
            "13000000 08 0500000000000000 0600000000000000 2f73"
        ),
        (.noCopy(request: 5, why: "no"), "", "0b000000 09 0500000000000000 6e6f"),
    ]

    static let ofReplica: [(word: ReplicaWord, bytes: String)] = [
        (
            .welcome(
                ReplicaWelcome(
                    node: 2,
                    term: 3,
                    leader: 4,
                    committed: 5,
                    last: 6,
                    cluster: cluster
                )
            ),
            """
            41000000 40 0100000000000000 0200000000000000 0300000000000000 0400000000000000 \
            0500000000000000 0600000000000000 30313233343536373839616263646566
            """
        ),
        (
            .entry(index: 258, term: 7, .batch, body: Array("xy".utf8)),
            "1b000000 41 0201000000000000 0700000000000000 0000000000000000 7879"
        ),
        (
            .entry(index: 258, term: 7, .leaderBegins, body: []),
            "19000000 41 0201000000000000 0700000000000000 0200000000000000"
        ),
        (
            .committed(term: 7, index: 258),
            "11000000 42 0700000000000000 0201000000000000"
        ),
        (
            .role(ReplicaRole(leads: true, term: 7, leader: 2, index: 258)),
            "21000000 43 0100000000000000 0700000000000000 0200000000000000 0201000000000000"
        ),
        (
            .refused(term: 7, index: 258, .otherIndex, text: "t"),
            "1a000000 44 0700000000000000 0201000000000000 0300000000000000 74"
        ),
        (.readOK(9), "09000000 45 0900000000000000"),
        (.readNo(9), "09000000 46 0900000000000000"),
        (
            .heard(committed: 258, microseconds: 1000),
            "11000000 47 0201000000000000 e803000000000000"
        ),
        (
            .added(index: 258, node: 2, token: "t"),
            "12000000 48 0201000000000000 0200000000000000 74"
        ),
        (
            .memberWanted(.promote, node: 2),
            "11000000 49 0200000000000000 0200000000000000"
        ),
        (
            .copyWanted(request: 5, least: 258),
            "11000000 4a 0500000000000000 0201000000000000"
        ),
        (.copyDone(request: 5), "09000000 4b 0500000000000000"),
        (.install(index: 258, path: "/s"), "0b000000 4c 0201000000000000 2f73"),
        (.tooOld(first: 258), "09000000 4d 0201000000000000"),
        (
            .statusIs(request: 4, json: Array("{}".utf8)),
            "0b000000 4e 0400000000000000 7b7d"
        ),
        (.end(.replaced, text: "t"), "0a000000 4f 2000000000000000 74"),
    ]

    static func bytes(_ text: String) -> [UInt8] {
        let digits = text.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { place in
            UInt8(digits[place] << 4 | digits[place + 1])
        }
    }
}
