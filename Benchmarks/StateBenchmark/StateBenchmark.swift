/// Measures what gathering, folding and loading the durable state cost.
@main struct StateBenchmark {
    static func main() throws {}
}
