"""A Python that has read what the tests' scripts import, and forks for each that start.py asks for.

    starter.py SOCKET      serves until it is ended

A script runs as in a Python of its own: its options, folder, environment, input and output are the asker's, and its exit code
goes there. When the asker goes, as when ctest lets nothing take longer, the script and what it started end, too."""

import os
import runpy
import select
import signal
import socket
import sys
import tempfile

for _name in ("numpy", "onnx"):  # ONNX Runtime begins a thread, which no fork has
    try:
        __import__(_name)
    except ImportError:
        pass  # the scripts say so


def received(asker):
    """What start.py sent: the script and its options, the folder, the environment; and the three files."""
    head, files, _, _ = socket.recv_fds(asker, 16, 3)
    size, text = int(head), b""
    while len(text) < size:
        text += asker.recv(size - len(text))
    script, folder, environment = (part.split("\0") for part in os.fsdecode(text).split("\0\0"))
    return script, folder[0], dict(item.split("=", 1) for item in environment), files


def become(script, folder, environment, files):
    """Makes this process what Python would be that begins with the script."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has what it runs beside itself ignore these, nohup the last
    for number in (signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # it is that of the environment
    sys.argv[:] = script
    sys.path[0] = os.path.dirname(os.path.abspath(script[0]))


def wait(asker, worker):
    """Tells the asker the worker's exit code; ends the worker and its children if the asker goes."""
    ends = os.pidfd_open(worker)
    ready, _, _ = select.select([ends, asker], [], [])
    if ends not in ready:
        os.killpg(worker, signal.SIGKILL)
    _, status = os.waitpid(worker, 0)
    code = os.waitstatus_to_exitcode(status)
    try:
        asker.sendall(b"%d" % (code if code >= 0 else 128 - code))
    except OSError:
        pass


def serve(place):
    """Returns in a process of its own for each script that is asked for: its path."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(place)
        server.listen(64)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            asker, _ = server.accept()
            if os.fork():
                asker.close()
                continue
            break
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    asked = received(asker)
    worker = os.fork()
    if worker:
        wait(asker, worker)
        os._exit(0)
    asker.close()
    become(*asked)
    return asked[0][0]


if __name__ == "__main__":
    runpy.run_path(serve(sys.argv[1]), run_name="__main__")
