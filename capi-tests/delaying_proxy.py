"""Forwards connections with a delay: delaying_proxy.py PORT TARGET_PORT MILLISECONDS, of a request with its answer."""
import asyncio
import sys

port, target, delay = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) / 2000


async def forward(reader, writer):
    """Sends what arrives after the delay, without waiting for it before the next read."""
    loop, parts = asyncio.get_running_loop(), asyncio.Queue()

    async def send():
        while True:
            at, data = await parts.get()
            await asyncio.sleep(at - loop.time())
            if not data:
                writer.close()
                return
            writer.write(data)
            await writer.drain()

    task = asyncio.create_task(send())
    try:
        while data := await reader.read(1 << 16):
            await parts.put((loop.time() + delay, data))
        await parts.put((loop.time() + delay, b""))
        await task
    except ConnectionError:
        task.cancel()
        writer.close()


async def connect(reader, writer):
    target_reader, target_writer = await asyncio.open_connection("127.0.0.1", target)
    await asyncio.gather(forward(reader, target_writer), forward(target_reader, writer))


async def main():
    server = await asyncio.start_server(connect, "127.0.0.1", port)
    await server.serve_forever()


asyncio.run(main())
