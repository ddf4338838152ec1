import FeedTestSupport
import Foundation

/// A server of sorted sets in a process of its own, slow enough that its processor time is its
/// votes', which can be made dearer by a share.
final class PythonRedis: Sendable {
    /// Whether Python is installed.
    static var isAvailable: Bool { program != nil }

    private static let program = Programs.command("python3")

    let target: String
    private let process: RunningProcess

    /// Starts a server that handles one vote in `again` a second time, in vain; 0 handles none so.
    init(again: Int = 0) async throws {
        guard let program = Self.program else { throw Absence() }
        process = try RunningProcess(program, ["-u", "-c", Self.script, "\(again)"])
        guard let line = await process.line(where: { $0.hasPrefix("port ") }) else {
            throw Absence()
        }
        target = "127.0.0.1:\(line.dropFirst(5))"
    }

    /// Ends the server.
    func stop() async {
        process.signal(SIGTERM)
        _ = await process.exitStatus()
    }

    private struct Absence: Error {}

    private static let script = #"""
        import selectors, socket, sys
        again = int(sys.argv[1])
        sets, votes = {}, 0
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        print("port", listener.getsockname()[1])
        selector = selectors.DefaultSelector()
        selector.register(listener, selectors.EVENT_READ)
        rest = {}

        def bulk(text):
            return b"$%d\r\n%s\r\n" % (len(text), text)

        def page(members, first, last):
            best = sorted(members.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
            best = best[first:last + 1]
            return b"*%d\r\n" % (2 * len(best)) + b"".join(bulk(m) + bulk(b"%d" % s) for m, s in best)

        def vote(scores, member):
            score = scores.get(member, 0) + 1
            for _ in range(4000):
                pass
            return score, bulk(b"%d" % score)

        def reply(words):
            global votes
            name, scores = words[0], sets.setdefault(words[1], {})
            if name == b"ZINCRBY":
                votes += 1
                if again and votes % again == 0:
                    vote(scores, words[3])
                scores[words[3]], answer = vote(scores, words[3])
                return answer
            if name == b"ZADD":
                scores.update((member, 0) for member in words[3::2])
                return b":%d\r\n" % (len(words) // 2 - 1)
            if name == b"ZSCORE":
                return bulk(b"%d" % scores[words[2]])
            if name == b"ZCARD":
                return b":%d\r\n" % len(scores)
            if name == b"UNLINK":
                del sets[words[1]]
                return b":1\r\n"
            return page(scores, int(words[2]), int(words[3]))

        def serve(connection):
            data = connection.recv(1 << 16)
            if not data:
                selector.unregister(connection)
                connection.close()
                return
            lines = (rest.pop(connection, b"") + data).split(b"\r\n")
            answers, place = [], 0
            while place + 2 * int(lines[place][1:] or 0) < len(lines) - 1 and lines[place]:
                count = int(lines[place][1:])
                answers.append(reply(lines[place + 2:place + 1 + 2 * count:2]))
                place += 1 + 2 * count
            rest[connection] = b"\r\n".join(lines[place:])
            connection.sendall(b"".join(answers))

        while True:
            for key, _ in selector.select():
                if key.fileobj is listener:
                    connection, _ = listener.accept()
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    selector.register(connection, selectors.EVENT_READ)
                else:
                    serve(key.fileobj)
        """#
}
