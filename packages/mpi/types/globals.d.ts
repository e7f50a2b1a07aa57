/**
 * What a program finds besides ECMAScript itself (`lib` ES2023, no DOM, no Node). Timers, network, workers and storage
 * do not exist. `Math`, `Math.random`, `Date` are the deterministic ones of the job.
 */
declare const console: import('mayfly').Console;
declare const performance: { /** Milliseconds since the start of the program, by the job's clock. */ now(): number };
declare const crypto: {
  /** Fills the array from the job's seeded generator. */ getRandomValues<
    A extends
      | Int8Array
      | Uint8Array
      | Uint8ClampedArray
      | Int16Array
      | Uint16Array
      | Int32Array
      | Uint32Array
      | BigInt64Array
      | BigUint64Array,
  >(
    array: A,
  ): A;
};
declare class TextEncoder {
  encode(text?: string): Uint8Array<ArrayBuffer>;
}
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(bytes?: Uint8Array | ArrayBuffer): string;
}
declare function structuredClone<T>(value: T): T;
