"""How long a million posts take to import."""

import clients
import servers
from report import Table, middle, quietness, spread, verdict

POSTS = 1_000_000
TARGET_SECONDS = 5


def run(tools, options, progress):
    posts = options.posts if options.quick else POSTS
    rounds, every = [], []
    for turn in range(options.growth_rounds):
        with servers.Service(tools) as service:
            sample = clients.pump(tools, service, **{"import": posts})
            if sample.values["last_post_id"] != posts:
                raise RuntimeError(f"{sample.values['last_post_id']} posts came of {posts}")
            every.append(sample)
            rounds.append({"seconds": sample.seconds, "server_seconds": sample.server_seconds})
            progress(f"import {turn + 1}/{options.growth_rounds}: {sample.seconds:.2f} s")
    return {"posts": posts, "rounds": rounds, "quiet": quietness(every)}


def table(results, options):
    posts = results["posts"]
    seconds = [one["seconds"] for one in results["rounds"]]
    result = Table(
        f"The import of {posts:,} posts, 256 a frame, over one connection",
        ["Seconds", "least – most", "CPU-µs of the server a post", "Target"])
    cost = middle(one["server_seconds"] for one in results["rounds"]) / posts * 1e6
    target = verdict(middle(seconds), TARGET_SECONDS * posts / POSTS, most=True, form="{:g} s")
    result.add(f"{middle(seconds):.2f}", spread(seconds, "{:.2f}"), f"{cost:.2f}", target)
    result.note(results["quiet"])
    return result
