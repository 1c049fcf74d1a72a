"""Check a wheel's contents, install it in an empty environment and use it there, with some tests of the sdist."""

import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

NEEDED = (
    "scca/py.typed",
    "scca/datasets/trilingual.tsv.gz",
    "scca/report/template.html",
    "scca/reproduce/page.html",
    "scca/reproduce/page.md",
    "licenses/LICENSE",
)
LARGEST = 250_000  # bytes: the corpus has 200,000
TESTS = ("tests/test_package.py", "tests/test_persistence.py")


def check_contents(wheel: Path) -> None:
    """The wheel has every file the package reads, no tests and nothing large."""
    with zipfile.ZipFile(wheel) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    missing = [name for name in NEEDED if not any(path.endswith(name) for path in sizes)]
    foreign = [path for path in sizes if not path.startswith("scca/") and ".dist-info/" not in path]
    large = [path for path, size in sizes.items() if size > LARGEST]
    if missing or foreign or large:
        sys.exit(f"{wheel.name} lacks {missing}, has {foreign} that are not the package's and {large} that are large.")


def main(dist: Path) -> None:
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    check_contents(wheel)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        programs = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")

        def run(program: str, *arguments: str, cwd: Path = folder) -> None:
            print("$", program, *arguments, flush=True)
            subprocess.run([programs / program, *arguments], check=True, cwd=cwd)

        run("python", "-m", "pip", "install", "--quiet", f"{wheel}[all]")
        run("scca", "--version")
        run("scca", "demo", "--output", "demo", "--components", "5")
        run("python", "-m", "pip", "install", "--quiet", "pytest", "hypothesis")
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        (source,) = folder.glob("scca-*")
        (source / "src").rename(folder / "unused")  # the tests are to see the installed package
        run("python", "-m", "pytest", "-q", *TESTS, cwd=source)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
