"""Build the package, install it in each supported way, and look for its data and models from a neutral folder.

Ways: the wheel (built from the sdist), the sdist, `pip install .` and `pip install -e .`. Each goes into a fresh
environment, which borrows the dependencies of the environment that runs this script. Run it in a clean checkout:
the files that git tracks are what is looked for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

LOOK = """
import json, pathlib, sys
import bayeseval
package = pathlib.Path(bayeseval.__file__).parent
print(json.dumps({
    "package": str(package),
    "version": bayeseval.__version__,
    "models": sorted(bayeseval.models()),
    "data": sorted(path.relative_to(package).as_posix() for path in (package / "_data").rglob("*") if path.is_file()),
    "typed": (package / "py.typed").is_file(),
    "template": bayeseval.copy_model("_template", "copied.py", overwrite=True).is_file(),
    "prompts": len(bayeseval.example("aime24-50").to_frame()),
}))
"""


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Output of a command; its error output is shown if it fails."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    answer = subprocess.run([str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True)
    if answer.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{answer.stdout}{answer.stderr}")
    return answer.stdout


def tracked(pattern: str) -> list[str]:
    """Paths that git tracks and that match the pattern."""
    return run("git", "ls-files", "--", pattern).split()


def fresh_environment(folder: Path) -> Path:
    """Python of a new environment that finds this one's dependencies, but none of its editable installs."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    # A path named in a .pth file goes to the end of sys.path, and the .pth files found there are not followed.
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def check(way: str, arguments: Iterable[str | Path], folder: Path, expected: dict[str, object]) -> list[str]:
    """Install in one way; sentences about what is not as expected."""
    python = fresh_environment(folder / "environment")
    pip = [sys.executable, "-m", "pip", "--python", python, "--quiet", "--disable-pip-version-check"]
    # The borrowed dependencies come with a bayeseval of their own, which must not count as installed.
    run(*pip, "install", "--no-deps", "--ignore-installed", *arguments)
    neutral = folder / "neutral"
    neutral.mkdir()
    seen = json.loads(run(python, "-W", "error", "-c", LOOK, cwd=neutral))
    package = Path(seen.pop("package"))
    inside = package.is_relative_to(ROOT if way == "pip install -e ." else folder / "environment")
    console = run(python.parent / "bayeseval", "models", "--json", cwd=neutral)
    troubles = [
        f"{name} is {seen[name]!r}, not {expected[name]!r}" for name in expected if seen[name] != expected[name]
    ]
    troubles += [] if inside else [f"bayeseval was found in {package}"]
    troubles += [f"`bayeseval models --json` does not name {name}" for name in seen["models"] if name not in console]
    print(f"{way}: {len(seen['models'])} models, {'; '.join(troubles) or 'ok'}", flush=True)
    return [f"{way}: {trouble}" for trouble in troubles]


def main() -> None:
    """Build, install, look."""
    expected = {
        "models": sorted(Path(path).stem for path in tracked("models/*.py") if not Path(path).name.startswith("_")),
        "data": sorted(path.removeprefix("bayeseval/") for path in tracked("bayeseval/_data")),
        "typed": True,
        "template": True,
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--outdir", folder, ROOT)  # the sdist, and the wheel from that sdist
        ways = {
            "wheel": [next(folder.glob("*.whl"))],
            "sdist": [next(folder.glob("*.tar.gz"))],
            "pip install .": [ROOT],
            "pip install -e .": ["-e", ROOT],
        }
        troubles: list[str] = []
        for number, (way, arguments) in enumerate(ways.items()):
            (folder / str(number)).mkdir()
            troubles += check(way, arguments, folder / str(number), expected)
    if troubles:
        sys.exit("\n".join(troubles))


if __name__ == "__main__":
    main()
