"""The blocks of docs/measurements/compare.md and README.md that are the output of a comparison."""

BEGIN = "<!-- What follows is the output of scripts/compare.sh --update-readme. -->\n"
README_BEGIN = "<!-- scripts/compare.sh --parts sides --update-readme puts its table here. -->\n"
END = "<!-- End of the output. -->\n"


def update(markdown, path="docs/measurements/compare.md", mark=BEGIN):
    with open(path) as file:
        text = file.read()
    before, begin, rest = text.partition(mark)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise RuntimeError(f"{path} has no block for the output: {mark.strip()}")
    with open(path, "w") as file:
        file.write(f"{before}{begin}\n{markdown}\n{end}{after}")
