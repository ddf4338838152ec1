@main
struct LoadGenCommand {
    static func main() {}
}
