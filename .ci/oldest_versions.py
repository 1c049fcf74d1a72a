"""Print pip constraints for the oldest version of every requirement that pyproject.toml allows."""

import re
import tomllib
from itertools import chain
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
requirements = [*project["dependencies"], *chain.from_iterable(project["optional-dependencies"].values())]
for requirement in requirements:
    if bound := re.fullmatch(r"([\w.-]+)>=([\d.]+)", requirement):  # scca[all] has none
        print(f"{bound[1]}=={bound[2]}")
