"""Runs a script of the tests: in a fork of the process that PB_TEST_STARTER names (starter.py), which has read NumPy and ONNX
already, or, without one, as Python does.

    python -IS start.py SCRIPT [OPTIONS...]

To read those packages takes a quarter of a second, as long as many of the tests, of which there are hundreds. -IS: this
program needs no packages."""

import os
import sys


def main():
    place = os.environ.get("PB_TEST_STARTER")
    if place:
        import socket

        with socket.socket(socket.AF_UNIX) as server:
            try:
                server.connect(place)
            except OSError:  # it is gone
                place = None
            if place:
                ask(socket, server)
                told = server.recv(16)
    if not place:
        os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
    sys.exit(int(told) if told else 1)


def ask(socket, server):
    """Sends the script, its options, the folder and the environment, and where it reads and prints."""
    lists = "\0\0".join("\0".join(part) for part in (sys.argv[1:], [os.getcwd()], [f"{k}={v}" for k, v in os.environ.items()]))
    text = os.fsencode(lists)
    socket.send_fds(server, [b"%016d" % len(text)], [0, 1, 2])
    server.sendall(text)


main()
