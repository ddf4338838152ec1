/// The dashboard: one page that loads nothing but its own service's `/history`.
///
/// It is a Swift text, and no resource of the package, so that the program stays a single file.
package enum Dashboard {
    /// The page as it is sent.
    package static let page = Array(
        [head, style, "</head>", body, "<script>", data, charts, "</script></html>\n"]
            .joined(separator: "\n").utf8
    )

    private static let head = #"""
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>feed-service</title>
        <link rel="icon" href="data:,">
        """#

    /// The body without its charts, which the script adds.
    private static let body = #"""
        <body data-errors="0" data-state="loading">
        <header>
          <h1>feed-service</h1>
          <p id="state" role="status">connecting</p>
          <nav aria-label="Range">
            <button type="button" data-seconds="300" aria-pressed="true">5 minutes</button>
            <button type="button" data-seconds="3600" aria-pressed="false">1 hour</button>
          </nav>
        </header>
        <p id="facts"></p>
        <ul id="tiles" aria-label="Now"></ul>
        <main id="charts"></main>
        <section>
          <h2>Top errors</h2>
          <table>
            <thead><tr><th>Reason</th><th>Since the start</th><th>Last minute</th></tr></thead>
            <tbody id="errors"></tbody>
          </table>
        </section>
        <footer>The numbers are also at <a href="/metrics">/metrics</a>,
        <a href="/ready">/ready</a> and <a href="/history">/history</a>.</footer>
        </body>
        """#
}
