/**
 * Data of checkpoints as doubles, for codes of numbers. What is no number stays in the head, which holders keep as it
 * is. Whole numbers come back rounded.
 */
import { elements, elementType, type ElementType } from '../datatypes.ts';
import type { Format } from './codes.ts';

/** Where numbers lie among the data. */
export interface Part {
  /** Id of the element type. */
  readonly element: number;
  readonly offset: number;
  readonly bytes: number;
}

export const isNumber = (t: ElementType | undefined): t is ElementType =>
  t !== undefined && (t.kind === 'float' || t.kind === 'integer' || t.kind === 'bigint');

/** A whole number beyond what doubles tell apart counts as not finite. */
const doubleOf = (x: bigint): number => {
  const n = Number(x);
  return Number.isSafeInteger(n) ? n : Infinity;
};

/** @param parse from the data, or from their beginning: the length of the head and of everything, and the numbers */
export const numbersFormat = (
  parse: (data: Uint8Array) => { head: number; length: number; parts: readonly Part[] },
): Format => ({
  split(own) {
    const { head, parts } = parse(own);
    const lists = parts.map((p) => {
      const { array } = elements(elementType(p.element), own.subarray(p.offset, p.offset + p.bytes));
      return array instanceof BigInt64Array || array instanceof BigUint64Array
        ? Float64Array.from(array as ArrayLike<bigint>, doubleOf)
        : array;
    });
    const body = new Float64Array(lists.reduce((n, l) => n + l.length, 0));
    let at = 0;
    for (const list of lists) {
      body.set(list, at);
      at += list.length;
    }
    return {
      head: own.subarray(0, head),
      body: new Uint8Array(body.buffer),
      finite: body.every((x) => Number.isFinite(x)),
    };
  },
  join(head, body) {
    const { length, parts } = parse(head);
    const own = new Uint8Array(length);
    own.set(head);
    const numbers = new Float64Array(body.slice().buffer);
    let at = 0;
    for (const p of parts) {
      const type = elementType(p.element);
      const list = numbers.subarray(at, (at += p.bytes / type.bytes));
      const values = new type.array(new ArrayBuffer(p.bytes), 0, list.length);
      if (type.kind === 'float') values.set(list as never);
      else
        for (const [i, x] of list.entries()) values[i] = type.kind === 'bigint' ? BigInt(Math.round(x)) : Math.round(x);
      own.set(new Uint8Array(values.buffer), p.offset);
    }
    return own;
  },
});
