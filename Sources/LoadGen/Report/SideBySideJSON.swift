import Foundation

/// The result of two servers that were measured in turns, for programs; docs/LOADGEN.md says what
/// each member means.
package struct SideBySideJSON {
    private let result: SideBySideResult

    /// A report of `result`.
    package init(_ result: SideBySideResult) {
        self.result = result
    }

    /// The text, always valid JSON with sorted members, with a newline at its end.
    package func rendered() -> String {
        JSONText.rendered(Members(result))
    }

    private struct Members: Encodable {
        let schema = 1
        let config: Configuration
        let env: MachineJSON
        let ab: Comparison
        let audits: [String: AuditJSON]
        let interrupted: Bool
        let exit: Int32

        init(_ result: SideBySideResult) {
            config = Configuration(result)
            env = MachineJSON(result.environment)
            ab = Comparison(result)
            audits = ["a": AuditJSON(result.audits.a), "b": AuditJSON(result.audits.b)]
            interrupted = result.isInterrupted
            exit = result.exitStatus.rawValue
        }
    }

    private struct Configuration: Encodable {
        let targetA: String
        let targetB: String
        let protocolA: String
        let protocolB: String
        let clients: Int
        let threads: Int
        let pipeline: Int
        let pipelineMode: String
        let rate: OrNull<Double>
        let mix: String
        let posts: Int
        let keys: String
        let seed: UInt64
        let sliceSeconds: Double
        let settleSeconds: Double
        let rounds: Int
        let aa: Int
        let limit: Double

        init(_ result: SideBySideResult) {
            let given = result.configuration
            let comparison = result.comparison
            targetA = given.target
            targetB = comparison.target
            protocolA = given.wireProtocol.rawValue
            protocolB = comparison.wireProtocol.rawValue
            clients = given.clientCount
            threads = given.threadCount
            pipeline = given.pipelineDepth
            pipelineMode = given.pipelineMode.rawValue
            rate = OrNull(finite: given.ratePerSecond)
            mix = given.mix.description
            posts = given.postCount
            keys = given.keys.description
            seed = given.seed
            sliceSeconds = comparison.slice / .seconds(1)
            settleSeconds = comparison.settle / .seconds(1)
            rounds = comparison.rounds
            aa = comparison.controlCount
            limit = comparison.limit
        }
    }

    private struct Comparison: Encodable {
        let throughput: Figure
        let serverCPU: Figure
        let responseP99Ms: Figure
        let pairs: [Pair]
        let repeated: Int
        let keptTainted: Int

        init(_ result: SideBySideResult) {
            throughput = Figure(result, .throughput)
            serverCPU = Figure(result, .serverCost)
            responseP99Ms = Figure(result, .response99, unit: 1e6)
            pairs = result.pairs.map(Pair.init)
            repeated = result.repeatedCount
            keptTainted = result.keptTaintedCount
        }
    }

    private struct Figure: Encodable {
        let a: OrNull<Double>
        let b: OrNull<Double>
        let ratio: OrNull<Double>
        let ratioCi95: OrNull<[Double]>
        let aaRatioCi95: OrNull<[Double]>
        let verdict: String

        init(_ result: SideBySideResult, _ figure: ComparedFigure, unit: Double = 1) {
            a = OrNull(finite: result.median(of: \.a, figure.value).map { $0 / unit })
            b = OrNull(finite: result.median(of: \.b, figure.value).map { $0 / unit })
            let estimate = result.ratio(figure)
            ratio = OrNull(finite: estimate?.ratio)
            ratioCi95 = OrNull(estimate.map { [$0.low, $0.high] })
            aaRatioCi95 = OrNull(result.control(figure).map { [$0.low, $0.high] })
            verdict = result.judgement(figure).rawValue
        }
    }

    private struct Pair: Encodable {
        let control: Bool
        let first: String
        let a: Measured
        let b: Measured

        init(_ pair: SlicePair) {
            control = pair.pair == .control
            first = pair.pair == .firstB ? "b" : "a"
            a = Measured(pair.a)
            b = Measured(pair.b)
        }
    }

    private struct Measured: Encodable {
        let perSecond: OrNull<Double>
        let serverSecondsPerMillion: OrNull<Double>
        let generatorSecondsPerMillion: OrNull<Double>
        let responseP99Ms: OrNull<Double>
        let bytesPerOperation: OrNull<Double>
        let writesPerOperation: OrNull<Double>
        let foreignShare: OrNull<Double>
        let tainted: Bool

        init(_ slice: Slice) {
            perSecond = OrNull(finite: slice.perSecond)
            serverSecondsPerMillion = OrNull(finite: slice.serverCost)
            generatorSecondsPerMillion = OrNull(finite: slice.generatorCost)
            responseP99Ms = OrNull(finite: slice.response99.map { $0 / 1e6 })
            bytesPerOperation = OrNull(finite: slice.bytesPerOperation)
            writesPerOperation = OrNull(finite: slice.writesPerOperation)
            foreignShare = OrNull(finite: slice.foreignShare)
            tainted = slice.isTainted
        }
    }
}
