@main
enum JournalBenchmark {
    static func main() {}
}
