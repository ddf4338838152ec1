import FeedProto

/// What the wire costs: a vote, its answer and a page, read and written, with protobuf-c alone on
/// the same messages beside it.
///
/// One thread; each figure is processor time a message, the middle one of five rounds. Votes are
/// 64 different ones in a row, as a full pipeline brings them.
@main
struct WireBenchmark {
    static func main() throws(FrameError) {
        print("a vote is read")
        let votes = try Samples.votes()
        show("past protobuf-c", count: votes.bodies.count) { readVotes(votes) }
        var decoder = MessageDecoder()
        show("by MessageDecoder", count: votes.bodies.count) {
            decode(votes.bytes, votes.bodies, &decoder)
        }
        show("protobuf-c alone", count: votes.bodies.count) {
            ProtobufC.unpackCalls(votes.bytes, votes.bodies)
        }

        print("a vote's answer is written")
        var encoder = FrameEncoder()
        let answers = Samples.answers()
        try show("past protobuf-c", count: answers.count) { () throws(FrameError) in
            try write(answers, &encoder)
        }
        try show("as a ServerFrame", count: answers.count) { () throws(FrameError) in
            try writeFrames(answers, &encoder)
        }
        let answer = try ProtobufC(Samples.frame(answers[0]))
        show("protobuf-c alone", count: answers.count) { answer.pack(times: answers.count) }

        try showBatches(&decoder, &encoder)

        print("a page of \(Samples.pageSize) posts")
        let page = Samples.page()
        try show("is written from fields", count: 1) { () throws(FrameError) in
            try page.write(&encoder)
        }
        let body = try page.body()
        let packed = ProtobufC(body)
        show("is written by protobuf-c alone", count: 1) { packed.pack(times: 1) }
        show("is read", count: 1) { read(body, &decoder) }
        show("is read by protobuf-c alone", count: 1) { _ = ProtobufC(body) }
    }

    /// What a vote of a batch costs, by the same ways.
    private static func showBatches(
        _ decoder: inout MessageDecoder,
        _ encoder: inout FrameEncoder
    ) throws(FrameError) {
        var batches = try Batches()
        let bytes = batches.body
        let frame = batches.frame
        print("a vote of a batch of \(Batches.voteCount) is read")
        show("past protobuf-c", count: Batches.voteCount) { batches.read() }
        show("by MessageDecoder", count: Batches.voteCount) {
            decode(bytes, [0..<bytes.count], &decoder)
        }
        print("a vote's answer is written in a batch's answer")
        try show("past protobuf-c", count: Batches.voteCount) { () throws(FrameError) in
            try batches.write(&encoder)
        }
        try show("as a ServerFrame", count: Batches.voteCount) { () throws(FrameError) in
            encoder.removeAll()
            try encoder.append(frame)
        }
    }

    /// Times a body that handles `count` messages.
    private static func show<Failure: Error>(
        _ name: String,
        count: Int,
        _ body: () throws(Failure) -> Void
    ) throws(Failure) {
        let repeatCount = 400_000 / count / (count == 1 ? 20 : 1)
        var rounds: [Double] = []
        for _ in 0..<5 {
            let start = Clock.processorNanoseconds()
            for _ in 0..<repeatCount { try body() }
            let used = Clock.processorNanoseconds() - start
            rounds.append(Double(used) / Double(repeatCount * count))
        }
        print("  \(name): \((rounds.sorted()[2] * 10).rounded() / 10) ns")
    }

    private static func readVotes(_ votes: Samples.Frames) {
        var run = VoteRun()
        unsafe run.find(in: votes.bytes.span.bytes, at: 0, limit: .max, FrameScanner())
        precondition(run.count == votes.bodies.count, "Every sample is a plain vote.")
    }

    private static func decode(
        _ bytes: [UInt8],
        _ bodies: [Range<Int>],
        _ decoder: inout MessageDecoder
    ) {
        for body in bodies {
            let frame = unsafe try? decoder.decodeClientFrame(bytes.span.bytes.extracting(body))
            precondition(frame != nil, "Every sample is a message.")
        }
    }

    private static func read(_ body: [UInt8], _ decoder: inout MessageDecoder) {
        let frame = try? decoder.decodeServerFrame(body)
        precondition(frame != nil, "Every sample is a message.")
    }

    private static func write(
        _ answers: [CastVoteResponse],
        _ encoder: inout FrameEncoder
    ) throws(FrameError) {
        encoder.removeAll()
        for answer in answers {
            try encoder.append(vote: answer, id: Samples.id, revision: Samples.revision)
        }
    }

    private static func writeFrames(
        _ answers: [CastVoteResponse],
        _ encoder: inout FrameEncoder
    ) throws(FrameError) {
        encoder.removeAll()
        for answer in answers { try encoder.append(Samples.frame(answer)) }
    }
}
