/**
 * Loops that programs have, with the built-in objects as they are or closed (packages/node/src/rank/harden.ts):
 * processor time of each, ms, the least of several. A process of its own.
 */
import { harden } from '@mayfly/node/harden';

const GLOBALS =
  'Object Function Array String Number Boolean BigInt Symbol Map Set WeakMap WeakSet Date RegExp Promise ' +
  'Proxy Reflect JSON Math Error TypeError RangeError ArrayBuffer DataView Int8Array Uint8Array Int32Array ' +
  'Float32Array Float64Array';
if (process.argv[2] === 'closed') harden(globalThis as never, GLOBALS.split(' '));

let sink = 0;
const numbers = Array.from({ length: 1000 }, (_, i) => i);
const KERNELS: Record<string, () => void> = {
  'pi: quotients in a loop': () => {
    for (let i = 0; i < 2e7; i++) sink += 4 / (1 + ((i + 0.5) / 2e7) ** 2);
  },
  'Math.sqrt, floor, abs': () => {
    for (let i = 0; i < 1e7; i++) sink += Math.sqrt(i) * Math.abs(i) + Math.floor(i / 3);
  },
  'a stencil in Float64Array': () => {
    const a = new Float64Array(1e5);
    for (let r = 0; r < 100; r++) for (let i = 1; i < 99_999; i++) a[i] = 0.5 * (a[i - 1]! + a[i + 1]!) + 1;
    sink += a[7]!;
  },
  'rows of arrays, read': () => {
    const m = Array.from({ length: 300 }, () => numbers.slice(0, 300));
    for (let r = 0; r < 30; r++)
      for (let i = 1; i < 299; i++)
        for (let k = 1; k < 299; k++) m[i]![k] = 0.25 * (m[i - 1]![k]! + m[i + 1]![k]! + m[i]![k - 1]! + m[i]![k + 1]!);
    sink += m[7]![7]!;
  },
  'rows of arrays, filled by index': () => {
    for (let r = 0; r < 10; r++) {
      const m: number[][] = [];
      for (let i = 0; i < 300; i++) {
        m[i] = [];
        for (let k = 0; k < 300; k++) m[i]![k] = i * k;
      }
      sink += m[5]![5]!;
    }
  },
  'push and for…of': () => {
    const a: number[] = [];
    for (let i = 0; i < 1e6; i++) a.push(i);
    for (const x of a) sink += x;
  },
  'map, filter, slice, spread': () => {
    for (let i = 0; i < 3000; i++)
      sink += [
        ...numbers
          .map((x) => x + 1)
          .filter((x) => x % 2)
          .slice(1),
      ].length;
  },
  destructuring: () => {
    for (let i = 0; i < 3e6; i++) {
      const [a, b] = [i, i + 1];
      sink += a + b;
    }
  },
  'Map and Set': () => {
    const m = new Map<number, number>();
    for (let i = 0; i < 1e5; i++) m.set(i, i);
    for (let r = 0; r < 10; r++) for (const [k, v] of m) sink += v + m.get(k)!;
  },
  'texts and regular expressions': () => {
    for (let i = 0; i < 2e5; i++) sink += `${i}-x`.replace(/\d+/, 'y').padStart(8).split('-').length;
  },
  'objects of a class': () => {
    class P {
      constructor(readonly x: number) {}
      get y(): number {
        return this.x;
      }
      add(o: P): P {
        return new P(this.x + o.y);
      }
    }
    let p = new P(0);
    const q = new P(1);
    for (let i = 0; i < 3e6; i++) p = p.add(q);
    sink += p.x;
  },
};

const times: Record<string, number> = {};
for (const [name, run] of Object.entries(KERNELS)) {
  let least = Infinity;
  for (let i = 0; i < 5; i++) {
    const from = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(from);
    least = Math.min(least, (user + system) / 1000);
  }
  times[name] = least;
}
console.log(JSON.stringify({ times, sink }));
