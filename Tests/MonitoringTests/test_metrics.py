"""The metrics, their table in docs/OPERATIONS.md, and the rules that use them."""

import json
import os
import re
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request

from classic import faults_of
from support import PATIENCE_SECONDS, ROOT, ServiceCase, names_of, samples_of

RULES = os.path.join(ROOT, "monitoring", "feed-service.rules.yaml")
GRAFANA = os.path.join(ROOT, "monitoring", "grafana.json")


def read(*path):
    with open(os.path.join(ROOT, *path)) as file:
        return file.read()


class MetricsTests(ServiceCase):
    def metrics(self):
        return self.service.get("/metrics")

    def test_the_table_has_every_metric_and_no_other(self):
        page = read("docs", "OPERATIONS.md")
        table = page.split("\n### Metrics\n")[1].split("\n### ")[0]
        named = set(re.findall(r"^\| `([a-z_]+)", table, re.MULTILINE))
        self.assertEqual(named, names_of(self.metrics()))

    def test_each_metric_has_a_help_and_its_unit(self):
        text = self.metrics()
        self.assertTrue(text.endswith("\n# EOF\n"))
        for name in names_of(text):
            self.assertRegex(text, rf"(?m)^# HELP {name} \S.*\.$")
            unit = re.search(rf"(?m)^# UNIT {name} (\S+)$", text)
            ending = re.search(r"_(seconds|bytes)$", name)
            self.assertEqual(unit.group(1) if unit else None, ending.group(1) if ending else None,
                             name)

    def test_collectors_of_the_classic_format_take_the_metrics(self):
        self.service.load(1).communicate()
        text = self.service.get("/metrics", accept="text/plain;version=0.0.4")
        self.assertEqual(faults_of(text), [])
        self.assertGreater(len(text.splitlines()), 100)
        checked = subprocess.run([self.program("promtool"), "check", "metrics"], input=text,
                                 capture_output=True, text=True)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))

    def test_faults_of_the_classic_format_are_found(self):
        good = ('# TYPE a counter\n# HELP a b \\\\ \\n\na{x="1\\"",y="\\n"} 1\na{x="2"} +Inf 7\n'
                '# TYPE h histogram\nh_bucket{le="1"} 2\nh_sum 1e-3\nh_count 2\n')
        self.assertEqual(faults_of(good), [])
        for bad in ["# TYPE a counter\n", "# HELP a again\n", "h_count 3\n", "a 3\n", "b 1\n",
                    '# TYPE c info\nc 1\n', '# TYPE c gauge\nc{x="\\t"} 1\n', "# TYPE c gauge\nc one\n",
                    '# TYPE c gauge\nc{x="1",x="2"} 1\n', "# TYPE c gauge\nc 1 # {} 1\n",
                    "# TYPE c gauge\nc 1"]:
            self.assertNotEqual(faults_of(good + bad), [], bad)

    def used_in(self, text):
        """The values that queries name."""
        return set(re.findall(r"\b((?:feed|process)_[a-z_]+)\b", text))

    def of_replicas(self):
        """The values that the table of feed-replica's metrics has, which the replica's own test reads, too."""
        table = read("docs", "CLUSTER.md").split("\n### Metrics of the replica\n")[1].split("\n### ")[0]
        names = {name for cell in re.findall(r"(?m)^\| (`[a-z_`, ]+) \|", table)
                 for name in re.findall(r"`([a-z_]+)`", cell)}
        self.assertGreater(len(names), 20)
        return {f"feed_replica_{name}{end}" for name in names for end in ("", "_bucket", "_count", "_sum")}

    def test_rules_and_dashboard_use_metrics_that_exist(self):
        exist = samples_of(self.metrics()) | self.of_replicas()
        queries = re.findall(r"(?m)^ *expr: (.*(?:\n {12,}.*)*)$", read("monitoring",
                                                                          "feed-service.rules.yaml"))
        self.assertGreater(len(queries), 10)
        for query in queries:
            self.assertTrue(self.used_in(query) or "up{" in query or "node_systemd" in query, query)
            self.assertLessEqual(self.used_in(query), exist, query)
        panels = [panel for panel in json.loads(read("monitoring", "grafana.json"))["panels"]
                  if "targets" in panel]
        self.assertGreater(len(panels), 8)
        for panel in panels:
            for target in panel["targets"]:
                self.assertTrue(self.used_in(target["expr"]), panel["title"])
                self.assertLessEqual(self.used_in(target["expr"]), exist, panel["title"])

    def test_each_alert_is_in_the_page(self):
        pages = read("docs", "OPERATIONS.md") + read("docs", "CLUSTER.md")
        alerts = re.findall(r"(?m)^ *- alert: (\S+)$", read("monitoring", "feed-service.rules.yaml"))
        told = re.findall(r"(?m)^\| `(Feed[A-Za-z]+)`[ ,]", pages)
        self.assertEqual(sorted(alerts), sorted(told))

    def test_promtool_takes_the_rules(self):
        promtool = self.program("promtool")
        finished = subprocess.run([promtool, "check", "rules", RULES], capture_output=True,
                                  text=True)
        self.assertEqual(finished.returncode, 0, finished.stdout + finished.stderr)

    def test_the_alerts_fire_when_they_should(self):
        promtool = self.program("promtool")
        histories = read("Tests", "MonitoringTests", "alerts_test.yaml").replace("RULES", RULES)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(histories)
            file.flush()
            finished = subprocess.run([promtool, "test", "rules", file.name], capture_output=True,
                                      text=True)
        self.assertEqual(finished.returncode, 0, finished.stdout + finished.stderr)

    def test_prometheus_reads_the_metrics_and_the_rules(self):
        prometheus = self.program("prometheus")
        load = self.service.load(PATIENCE_SECONDS)
        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "prometheus.yaml")
            target = urllib.parse.urlsplit(self.service.page).netloc
            with open(config, "w") as file:
                file.write("global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
                           f"rule_files: [{RULES}]\n"
                           "scrape_configs:\n"
                           "- job_name: feed-service\n"
                           f"  static_configs: [{{targets: ['{target}']}}]\n")
            log = open(os.path.join(folder, "log"), "w+")
            process = subprocess.Popen(
                [prometheus, f"--config.file={config}", "--web.listen-address=127.0.0.1:0",
                 f"--storage.tsdb.path={folder}/data"], stderr=log, stdout=log)
            try:
                page = self.address_of(process, log.name)
                self.wait_for(page, 'sum(rate(feed_calls_total{method="cast_vote"}[5s])) > 0', load)
                self.wait_for(page, "histogram_quantile(0.99, sum by (le) "
                                    "(rate(feed_call_duration_seconds_bucket[5s]))) > 0", load)
                self.wait_for(page, "feed_ready == 1", load)
                rules = self.ask(page, "/api/v1/rules")["data"]["groups"]
                states = [(rule["name"], rule["health"], rule.get("lastError"))
                          for group in rules for rule in group["rules"]]
                self.assertGreater(len(states), 10)
                wrong = [state for state in states if state[1] == "err"]
                self.assertEqual(wrong, [])
                targets = self.ask(page, "/api/v1/targets")["data"]["activeTargets"]
                self.assertEqual([target["lastError"] for target in targets], [""])
            finally:
                process.terminate()
                process.wait()
                log.close()
                load.terminate()
                load.communicate()

    def address_of(self, process, log):
        """The address that Prometheus got, from its log, which is followed until the process ends."""
        follow = ["tail", "--lines=+1", "--follow", f"--pid={process.pid}", log]
        with subprocess.Popen(follow, stdout=subprocess.PIPE, text=True) as lines:
            try:
                for line in lines.stdout:
                    if found := re.search(r"Listening on.*address=(\S+)", line):
                        return "http://" + found.group(1).strip('"')
            finally:
                lines.terminate()
        raise AssertionError("Prometheus has ended.")

    def ask(self, page, path):
        with urllib.request.urlopen(page + path, timeout=PATIENCE_SECONDS) as answer:
            return json.load(answer)

    def wait_for(self, page, query, load):
        # Prometheus looks each second, and the load prints a line.
        while load.stderr.readline():
            try:
                answer = self.ask(page, "/api/v1/query?" + urllib.parse.urlencode({"query": query}))
                if answer["data"]["result"]:
                    return
            except urllib.error.HTTPError as error:
                # Prometheus listens before it has read its storage.
                if error.code != 503:
                    raise
        raise AssertionError("Never true: " + query)


if __name__ == "__main__":
    unittest.main()
