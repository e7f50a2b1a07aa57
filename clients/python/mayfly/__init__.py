"""Submit MPI programs to a Mayfly server, wait for them, and read what they wrote.

    import mayfly

    client = mayfly.Client()
    job = client.submit("pi.ts", ranks=4, args=["1000000"])
    job.wait(progress=print)
    print(job.output(rank=0))
"""

from .client import Client
from .errors import Diagnostic, JobFailed, MayflyError, Unreachable, WaitTimeout
from .job import Job, ResultFile
from .programs import Part, Program
from .views import (
    ClusterRoomView,
    FaultView,
    FileView,
    JobView,
    NodeView,
    PartView,
    QuotaView,
    RollbackView,
    RoomView,
    ServerInfo,
    TaskView,
    WavesView,
    WaveView,
)

__version__ = "0.2.0"

__all__ = [
    "Client",
    "ClusterRoomView",
    "Diagnostic",
    "FaultView",
    "FileView",
    "Job",
    "JobFailed",
    "JobView",
    "MayflyError",
    "NodeView",
    "Part",
    "PartView",
    "Program",
    "QuotaView",
    "ResultFile",
    "RollbackView",
    "RoomView",
    "ServerInfo",
    "TaskView",
    "Unreachable",
    "WaitTimeout",
    "WaveView",
    "WavesView",
]
