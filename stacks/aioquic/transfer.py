"""A transfer over aioquic, which writes qlog: `serve ADDRESS PORT` and `get ADDRESS PORT BYTES`.

Each stream is answered with as many bytes as its request asks for. QLOGDIR is the folder for logs.
"""

import asyncio
import os
import signal
import ssl
import sys

from aioquic.asyncio import connect, serve  # type: ignore[import-not-found]
from aioquic.quic.configuration import QuicConfiguration  # type: ignore[import-not-found]
from aioquic.quic.logger import QuicFileLogger  # type: ignore[import-not-found]

PROTOCOL = "transfer"


def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send as many bytes as the request asks for."""

    async def send() -> None:
        writer.write(bytes(int(await reader.readline())))
        writer.write_eof()

    tasks.add(asyncio.ensure_future(send()))


tasks: set[asyncio.Future[None]] = set()


async def main() -> None:
    """Serve until SIGTERM, or get."""
    what, address, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    logger = QuicFileLogger(os.environ["QLOGDIR"])
    settings = QuicConfiguration(
        is_client=what == "get",
        alpn_protocols=[PROTOCOL],
        quic_logger=logger,
        verify_mode=ssl.CERT_NONE,
    )
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, lambda: finish(logger, status=what == "get"))
    if what == "serve":
        settings.load_cert_chain("cert.pem", "key.pem")
        await serve(address, port, configuration=settings, stream_handler=answer)
        await loop.create_future()
    async with connect(address, port, configuration=settings) as connection:
        reader, writer = await connection.create_stream()
        writer.write(sys.argv[4].encode() + b"\n")
        writer.write_eof()
        got = len(await reader.read())
        connection.close()
        connection.transmit()
        finish(logger, status=got != int(sys.argv[4]))


def finish(logger: QuicFileLogger, status: int = 0) -> None:
    """Write the logs of open connections, and end at once: a close takes three timeouts."""
    for trace in list(logger._traces):
        logger.end_trace(trace)
    os._exit(status)


if __name__ == "__main__":
    asyncio.run(main())
