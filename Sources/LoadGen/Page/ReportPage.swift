import Foundation

/// The report as one page of HTML that loads nothing: its style, its script and its data are in it.
///
/// The page is made from JSON reports alone. It draws what they have: a member that a report lacks
/// is a chart that the page lacks.
package struct ReportPage {
    private let documents: [ReportDocument]

    /// A page of some reports, the first of which has the verdict; more than one are drawn over
    /// each other.
    package init(_ documents: [ReportDocument]) {
        precondition(!documents.isEmpty, "A page shows a report.")
        self.documents = documents
    }

    /// The most reports of a page.
    package static let mostDocuments = 6

    /// The page.
    package func rendered() -> String {
        [
            Self.head, "<style>", Self.style, "</style>", "</head>", Self.body, Self.dataStart,
            data,
            Self.dataEnd, "<script>", Self.kit, Self.charts, Self.timeCharts, Self.processorCharts,
            Self.spreadCharts, Self.comparisonCharts, Self.tables, Self.settings, Self.main,
            "</script>", "</html>\n",
        ].joined(separator: "\n")
    }

    /// The reports as JSON that cannot end its element.
    private var data: String {
        let runs = JSONValue.array(documents.map { $0.data(runCount: documents.count) })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let text = String(decoding: try encoder.encode(["runs": runs]), as: UTF8.self)
            return text.replacing("<", with: "\\u003c")
        } catch {
            preconditionFailure("A report that was read can be written: \(error)")
        }
    }

    private static let head = #"""
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>loadgen report</title>
        <link rel="icon" href="data:,">
        """#
    private static let body =
        #"<body data-errors="0" data-state="loading"><noscript>This page is drawn by JavaScript.</noscript>"#
    private static let dataStart = #"<script type="application/json" id="data">"#
    private static let dataEnd = "</script>"
}
