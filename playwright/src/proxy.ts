/**
 * A proxy between browsers and the server, whose cable can be pulled: TCP as it comes, byte for byte.
 *
 *  cut()    every connection through it breaks, and new ones are closed at once: the way is gone, and both ends know
 *  it. stall()  nothing passes any more, and nothing breaks: as when a router forgets, neither end is told.
 *  mend()   what was held back goes on its way; new connections are taken again.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class Proxy {
  readonly #server: Server;
  readonly #ends = new Set<Socket>();
  #state: 'open' | 'cut' | 'stalled' = 'open';

  private constructor(to: () => string) {
    // Half-open ends and resets are passed on: what one side does, the other sees. Without `noDelay` a small message
    // waits up to 40 ms for the acknowledgement of the one before.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
      if (this.#state === 'cut') return void near.destroy();
      const { hostname, port } = new URL(to());
      const far = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
      for (const [end, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#ends.add(end);
        end.on('data', (bytes) => void (other.write(bytes) || end.pause()));
        end.on('drain', () => this.#state === 'open' && other.resume());
        end.on('end', () => other.end());
        end.on('error', () => other.destroy());
        end.on('close', () => {
          this.#ends.delete(end);
          other.destroy();
        });
        if (this.#state === 'stalled') end.pause();
      }
    });
  }

  /** `to`: the server's address, asked for at each connection. */
  static async open(to: () => string): Promise<Proxy> {
    const proxy = new Proxy(to);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(): void {
    this.#state = 'cut';
    for (const end of this.#ends) end.destroy();
  }

  stall(): void {
    this.#state = 'stalled';
    for (const end of this.#ends) end.pause();
  }

  mend(): void {
    this.#state = 'open';
    for (const end of this.#ends) end.resume();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}
