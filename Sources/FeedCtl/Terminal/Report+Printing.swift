extension Report {
    /// Prints the report for people or for programs.
    ///
    /// - Throws: ``NotDone`` after a report of something that is not done.
    func print(asJSON isJSON: Bool) throws {
        try Console.write(isJSON ? try json() : text(.current))
        guard isDone else { throw NotDone() }
    }
}
