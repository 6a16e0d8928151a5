"""A standalone Spark cluster on this machine: a master and workers, each a process of its own, with real executors."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from servers import free_port

SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
}
BRIEF = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]  # a master and workers do little, and not for long


@dataclass
class Cluster:
    """Its address, its folder, and the processes of its workers."""

    address: str
    folder: Path
    workers: list[subprocess.Popen] = field(default_factory=list)

    def environment(self, **settings: str) -> dict[str, str]:
        """What a driver is started with: Spark reads its settings from a file, as on anybody's cluster."""
        folder = Path(tempfile.mkdtemp(prefix="conf", dir=self.folder))
        every = SETTINGS | {"spark.local.dir": str(self.folder / "local")} | settings
        (folder / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in every.items()))
        return {**os.environ, "SPARK_CONF_DIR": str(folder), "SPARK_LOCAL_IP": "127.0.0.1"}

    def kill(self, number: int) -> None:
        """End a worker and its executors as a failing machine does: at once, with all that they hold."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)
        self.workers[number].wait()
        shutil.rmtree(self.folder / f"worker-{number}", ignore_errors=True)

    def cpu_seconds(self) -> float:
        """What the workers and their executors have used so far."""
        groups, ticks = {worker.pid for worker in self.workers}, 0
        for status in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                fields = status.read_text().rsplit(")", 1)[1].split()
                if int(fields[2]) in groups:
                    ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def peak_megabytes(self) -> float:
        """The most memory that a single executor has held."""
        groups, peak = {worker.pid for worker in self.workers}, 0
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, IndexError, ValueError):
                if int((process / "stat").read_text().rsplit(")", 1)[1].split()[2]) in groups:
                    peak = max(peak, int((process / "status").read_text().partition("VmHWM:")[2].split()[0]))
        return peak / 1024


@contextmanager
def spark_cluster(workers: int = 3, memory: str = "512m") -> Iterator[Cluster]:
    """A cluster of so many workers, one core each. All its processes end with it."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise RuntimeError("no pyspark")
    home = Path(spec.origin).parent
    with tempfile.TemporaryDirectory(prefix="cluster") as name:
        folder, port = Path(name), free_port()
        environment = {**os.environ, "SPARK_HOME": str(home)}
        environment |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        scala = next((home / "jars").glob("scala-library-*.jar")).stem.removeprefix("scala-library-")
        environment["SPARK_SCALA_VERSION"] = ".".join(scala.split(".")[:2])  # by which workers find what executors run
        cluster = Cluster(f"spark://127.0.0.1:{port}", folder)
        master = ["org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port)]
        program = Path(os.environ["JAVA_HOME"]) / "bin" / "java" if os.environ.get("JAVA_HOME") else "java"
        java = [str(program), "-cp", str(home / "jars" / "*"), "-Xmx256m", *BRIEF]
        processes = []

        def start(what: str, command: list[str]) -> subprocess.Popen:
            (folder / what).mkdir()
            environment["SPARK_LOCAL_DIRS"] = str(folder / what)
            with (folder / what / "log").open("w") as log:
                # In a session of its own, so that a worker and its executors can be ended together.
                process = subprocess.Popen(
                    [*java, *command, "--webui-port", str(free_port())],
                    env=environment,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            processes.append(process)
            return process

        try:
            start("master", master)
            for number in range(workers):
                place = ["-d", str(folder / f"worker-{number}"), "-c", "1", "-m", memory, cluster.address]
                command = ["org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", *place]
                cluster.workers.append(start(f"worker-{number}", command))
            joined(folder, workers)
            yield cluster
        finally:
            for process in processes:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def joined(folder: Path, workers: int, seconds: int = 120) -> None:
    """Wait until all workers are known to the master."""
    deadline = time.monotonic() + seconds
    while sum("registered with master" in log.read_text() for log in folder.glob("worker-*/log")) < workers:
        if time.monotonic() > deadline:
            said = "\n".join(log.read_text()[-2000:] for log in folder.glob("*/log"))
            raise RuntimeError(f"the workers did not join:\n{said}")
        time.sleep(0.1)
