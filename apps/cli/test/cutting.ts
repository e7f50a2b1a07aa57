/** Connections that break in the middle. */
import { connect, createServer, type AddressInfo, type Server } from 'node:net';

/** A way to the server whose first connections end after so many bytes of an answer. */
export async function cutting(
  url: string,
  bytes: number,
  times: number,
): Promise<{ url: string; left(): number; close(): Promise<void> }> {
  let left = times;
  const server: Server = createServer((near) => {
    const far = connect(Number(new URL(url).port), '127.0.0.1');
    let passed = 0;
    near.pipe(far);
    far.on('data', (d: Buffer) => {
      passed += d.length;
      if (left > 0 && passed > bytes) {
        left--;
        near.destroy();
        far.destroy();
      } else near.write(d);
    });
    far.on('end', () => near.end());
    for (const s of [near, far]) s.on('error', () => undefined);
  });
  await new Promise<void>((go) => server.listen(0, '127.0.0.1', go));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    left: () => left,
    close: () => new Promise((done) => server.close(() => done())),
  };
}
