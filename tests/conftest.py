import os

# tests run side by side: BLAS threads would only wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import settings

collect_ignore = ["letters.py"]  # collected, it would be imported under another name and register its kind again


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)


# no times in tests: an example that takes long on a busy machine is no failure
settings.register_profile("scca", deadline=None)
settings.load_profile("scca")


# --- what was not run, and why ----------------------------------------------------------------------------------------

EXTRAS = {
    **{"typer": "cli", "rich": "cli", "jinja2": "report", "matplotlib": "report", "pandas": "frames"},
    **{"pyarrow": "parquet", "defusedxml": "tmx", "faiss": "index", "distributed": "dask", "numpydoc": "dev"},
}
_slow = set()  # tests left out by -m "not slow"


def pytest_deselected(items):
    if items[0].config.option.markexpr:
        _slow.update(item.nodeid for item in items if item.get_closest_marker("slow"))


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):  # one of pytest-xdist's processes: another writes the summary
        session.config.workeroutput["slow"] = sorted(_slow)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    _slow.update(getattr(node, "workeroutput", {}).get("slow", []))


def pytest_terminal_summary(terminalreporter):
    skipped = {(report.nodeid, _reason(report)) for report in terminalreporter.stats.get("skipped", [])}
    reasons = Counter(reason for _, reason in skipped)
    if _slow:
        reasons["slow; make test-all runs them"] = len(_slow)
    if reasons:
        terminalreporter.section("not run")
        for reason, count in reasons.most_common():
            terminalreporter.line(f"{count:5}  {reason}")


def _reason(report):
    """Why a test, or a whole file, was skipped."""
    told = report.longrepr[2].removeprefix("Skipped: ")
    if missing := re.match(r"could not import '(\w+)", told):
        extra = EXTRAS.get(missing[1])
        return f"no {missing[1]}" + (f"; pip install 'scca[{extra}]'" if extra else "")
    return told
