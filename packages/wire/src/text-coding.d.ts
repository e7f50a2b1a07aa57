/**
 * Text encoding is part of every engine that Mayfly runs in, but of no `lib` without DOM or Node; pure packages see
 * just this.
 */
declare class TextEncoder {
  encode(text?: string): Uint8Array<ArrayBuffer>;
}
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(bytes?: Uint8Array): string;
}
