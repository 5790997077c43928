"""A SLURM of one node, in a temporary configuration: munged, slurmctld and slurmd of this machine, as root.

Debian's slurm-wlm and munge suffice: apt-get install --no-install-recommends slurm-wlm munge
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["missing", "one_node"]

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo", "squeue")
CPUS = 4
"""CPUs that the node claims to have, so that several jobs run at once on a small machine."""

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MinJobAge=30
InactiveLimit=0
KillWait=2
MailProg=/bin/true
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=16000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str | None:
    """Return why no SLURM can be started here; None if it can."""
    absent = [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]
    if absent:
        return f"{', '.join(absent)} not installed (Debian: slurm-wlm, munge)"
    return None if os.geteuid() == 0 else "SLURM's daemons need root"


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def one_node(folder: Path) -> Iterator[dict[str, str]]:
    """Start a SLURM of one node; yield the environment for its commands, and stop it at the end.

    Args:
        folder: an empty folder for its configuration, logs and spool files.

    Raises:
        RuntimeError: it does not start; the message has its logs.
    """
    host = socket.gethostname().partition(".")[0]
    for name in ("state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    ports = {"controller": _free_port(), "daemon": _free_port()}
    (folder / "slurm.conf").write_text(CONFIGURATION.format(host=host, folder=folder, cpus=CPUS, **ports))
    environment = {**os.environ, "PATH": _path(), "SLURM_CONF": str(folder / "slurm.conf")}
    munged = [
        "munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket",
        f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log",
        f"--seed-file={folder}/munge.seed",
    ]  # fmt: skip
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        for command in (munged, ["slurmctld", "-D", "-c"], ["slurmd", "-D", "-N", host]):
            with (folder / f"{command[0]}.out").open("wb") as out:
                daemons.append(subprocess.Popen(command, env=environment, stdout=out, stderr=out))
            time.sleep(1.0)
        _wait_until_idle(environment, folder)
        yield environment
    finally:
        subprocess.run(["scancel", "--full", "--user=root"], env=environment, capture_output=True)
        time.sleep(1.0)
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in daemons:
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def _wait_until_idle(environment: dict[str, str], folder: Path) -> None:
    """Wait until the node takes jobs."""
    report = ""
    for _ in range(60):
        found = subprocess.run(["sinfo", "-h", "-o", "%t"], env=environment, capture_output=True, text=True)
        report = found.stdout.strip() or found.stderr
        if report == "idle":
            return
        time.sleep(0.5)
    logs = [path.read_text(errors="replace")[-1500:] for path in sorted(folder.glob("*.[lo][ou][gt]"))]
    raise RuntimeError("\n".join([f"the node is not idle: {report}", *logs]))
