"""A transfer over SCTP or MPTCP: `PROTOCOL serve ADDRESS` and `PROTOCOL get ADDRESS BYTES`.

Each connection is answered with as many bytes as its request asks for.
"""

import socket
import sys
import threading

PROTOCOLS = {"sctp": socket.IPPROTO_SCTP, "mptcp": 262}
PORT = 5001
CHUNK = bytes(1 << 15)
"""The data of one call; a message of SCTP must fit the send buffer."""


def answer(connection: socket.socket) -> None:
    """Send as many bytes as the request asks for, and close."""
    with connection:
        left = int(connection.recv(64))
        while left:
            left -= connection.send(CHUNK[:left])


def serve(listener: socket.socket, address: str) -> None:
    """Answer connections, each in a thread."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, PORT))
    listener.listen(64)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answer, args=(connection,), daemon=True).start()


def get(connection: socket.socket, address: str, wanted: int) -> int:
    """Request bytes, and return how many came."""
    connection.connect((address, PORT))
    connection.sendall(str(wanted).encode())
    got = 0
    while got < wanted and (part := connection.recv(1 << 18)):
        got += len(part)
    return got


def main() -> None:
    """Serve until a signal ends the process, or get; exit with 1 if bytes are missing."""
    protocol, what, address = sys.argv[1:4]
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTOCOLS[protocol]) as one:
        if what == "serve":
            serve(one, address)
        wanted = int(sys.argv[4])
        sys.exit(get(one, address, wanted) != wanted)


if __name__ == "__main__":
    main()
