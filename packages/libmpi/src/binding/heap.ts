/**
 * The program's linear memory as the binding reads and writes it. Views are taken anew when the memory has grown. Every
 * access is checked: a wrong pointer becomes an MPI error that names the argument, not a silent nothing.
 */
import { ERR, MPIError } from '@mayfly/mpi';

const text = new TextEncoder();
const read = new TextDecoder('utf-8');

export class Heap {
  /** Without length before the first use, and when the memory has grown: that detaches its buffer. */
  private bytesView: Uint8Array = new Uint8Array(0);
  private dataView: DataView = new DataView(new ArrayBuffer(0));
  /** Standard name of the call under way, for messages. */
  call = 'MPI';
  /** Arrays of counts have 8-byte elements: the large form of a function is under way. */
  large = false;

  /** The instance that owns the memory is made after the binding. */
  constructor(private readonly program: { readonly memory: WebAssembly.Memory }) {}

  private take(): void {
    const { buffer } = this.program.memory;
    this.bytesView = new Uint8Array(buffer);
    this.dataView = new DataView(buffer);
  }
  get bytes(): Uint8Array {
    if (this.bytesView.length === 0) this.take();
    return this.bytesView;
  }
  get view(): DataView {
    if (this.bytesView.length === 0) this.take();
    return this.dataView;
  }

  wrong(address: number, bytes: number, what: string): never {
    const why =
      address === 0
        ? 'is a null pointer'
        : `points to ${address}: ${bytes} bytes there are not inside the memory of ${this.bytes.length} bytes`;
    throw new MPIError(what.includes('buf') ? ERR.BUFFER : ERR.ARG, this.call, `${what} ${why}`);
  }
  /** An address with room for `bytes` bytes behind it. */
  check(address: number, bytes: number, what: string): number {
    const a = address >>> 0;
    if (a === 0 || a + bytes > this.bytes.length) this.wrong(a, bytes, what);
    return a;
  }

  int(address: number, what: string): number {
    return this.view.getInt32(this.check(address, 4, what), true);
  }
  setInt(address: number, value: number, what: string): void {
    const a = this.check(address, 4, what);
    this.view.setInt32(a, value, true);
  }
  setWide(address: number, value: number | bigint, what: string): void {
    const a = this.check(address, 8, what);
    this.view.setBigInt64(a, BigInt(value), true);
  }
  /** int, or MPI_Count in the large form. */
  setCount(address: number, value: number, what: string): void {
    if (this.large) this.setWide(address, value, what);
    else this.setInt(address, value, what);
  }
  count(address: number, what: string): number {
    return this.large
      ? this.safe(this.view.getBigInt64(this.check(address, 8, what), true), what)
      : this.int(address, what);
  }
  /** A count as a number. @throws MPIError ERR_COUNT beyond 2^53 */
  private safe(wide: bigint, what: string): number {
    const value = Number(wide);
    if (!Number.isSafeInteger(value))
      throw new MPIError(ERR.COUNT, this.call, `${what} has ${wide}: more than 2^53 is not supported`);
    return value;
  }

  ints(address: number, n: number, what: string): number[] {
    if (n <= 0) return [];
    const a = this.check(address, n * 4, what);
    const { view } = this;
    const out = new Array<number>(n);
    for (let i = 0; i < n; i++) out[i] = view.getInt32(a + i * 4, true);
    return out;
  }
  /** `int x[]`, which is `MPI_Count x[]` in the large form. */
  counts(address: number, n: number, what: string): number[] {
    if (!this.large || n <= 0) return this.ints(address, n, what);
    const a = this.check(address, n * 8, what);
    const { view } = this;
    return Array.from({ length: n }, (_, i) => this.safe(view.getBigInt64(a + i * 8, true), what));
  }
  setInts(address: number, values: readonly number[], what: string): void {
    if (values.length === 0) return;
    const a = this.check(address, values.length * 4, what);
    const { view } = this;
    values.forEach((v, i) => view.setInt32(a + i * 4, v, true));
  }
  setWides(address: number, values: readonly number[], what: string): void {
    if (values.length === 0) return;
    const a = this.check(address, values.length * 8, what);
    const { view } = this;
    values.forEach((v, i) => view.setBigInt64(a + i * 8, BigInt(v), true));
  }

  string(address: number, what: string, most = 1 << 20): string {
    const a = this.check(address, 1, what);
    const { bytes } = this;
    const end = bytes.indexOf(0, a);
    return read.decode(bytes.slice(a, Math.min(end < 0 ? bytes.length : end, a + most)));
  }
  /** Writes a text with its end into room for `room` bytes; returns its length without the end. */
  setString(address: number, value: string, room: number, what: string): number {
    let raw = text.encode(value);
    if (raw.length >= room) raw = raw.subarray(0, room - 1);
    const a = this.check(address, raw.length + 1, what);
    this.bytes.set(raw, a);
    this.bytes[a + raw.length] = 0;
    return raw.length;
  }
}
