/**
 * A PNG file whose bytes lie at fixed places, so that a part of the picture can be written anew without the rest: 8-bit
 * palette, not compressed (RFC 1951 "stored" blocks), one IDAT chunk per band of rows, and a last one with the checksum
 * of the whole (RFC 1950). The file is valid after every update.
 */

/** Bytes to write at an offset of the file. */
export interface Part {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n;
});

function crc32(bytes: Uint8Array): number {
  let c = 0xffffffff;
  for (const b of bytes) c = CRC_TABLE[(c ^ b) & 255]! ^ (c >>> 8);
  return ~c >>> 0;
}

export class Png {
  /** The whole file as it is now. To keep it in a checkpoint, register these bytes. */
  readonly bytes: Uint8Array;
  readonly bands: number;
  readonly #view: DataView;
  readonly #bandOffset: number[] = [];
  readonly #checksumOffset: number;

  /**
   * @param palette r, g, b, r, g, b … of at most 256 colours; the picture is all colour 0 at first
   * @param bandRows rows of a band; (width + 1) · bandRows may not exceed 65 535
   */
  constructor(
    readonly width: number,
    readonly height: number,
    palette: Uint8Array,
    readonly bandRows: number = Math.min(height, Math.floor(65535 / (width + 1))),
  ) {
    this.bands = Math.ceil(height / bandRows);
    const header = new Uint8Array(13);
    const h = new DataView(header.buffer);
    h.setUint32(0, width);
    h.setUint32(4, height);
    header.set([8, 3, 0, 0, 0], 8); // 8 bits, palette, deflate, no filter method, not interlaced

    const chunks: [type: string, data: Uint8Array][] = [
      ['IHDR', header],
      ['PLTE', palette],
    ];
    for (let band = 0; band < this.bands; band++) {
      const length = (width + 1) * this.rowsOf(band);
      if (length > 65535)
        throw new RangeError(`a band of ${bandRows} rows of ${width} pixels does not fit into one stored block`);
      // The first carries the zlib header; then BFINAL = 0, BTYPE = 00, the length and its complement.
      const start = [
        ...(band === 0 ? [0x78, 0x01] : []),
        0,
        length & 255,
        length >> 8,
        ~length & 255,
        (~length >> 8) & 255,
      ];
      const data = new Uint8Array(start.length + length);
      data.set(start);
      chunks.push(['IDAT', data]);
    }
    chunks.push(['IDAT', Uint8Array.of(1, 0, 0, 255, 255, 0, 0, 0, 0)], ['IEND', new Uint8Array(0)]);

    this.bytes = new Uint8Array(chunks.reduce((sum, [, data]) => sum + 12 + data.length, SIGNATURE.length));
    this.#view = new DataView(this.bytes.buffer);
    this.bytes.set(SIGNATURE);
    let at = SIGNATURE.length;
    for (const [i, [type, data]] of chunks.entries()) {
      this.#view.setUint32(at, data.length);
      for (let k = 0; k < 4; k++) this.bytes[at + 4 + k] = type.charCodeAt(k);
      this.bytes.set(data, at + 8);
      this.#seal(at);
      if (i >= 2 && i < 2 + this.bands) this.#bandOffset.push(at);
      at += 12 + data.length;
    }
    this.#checksumOffset = at - 12 - 21;
    this.#checksum();
  }

  rowsOf(band: number): number {
    return Math.min(this.bandRows, this.height - band * this.bandRows);
  }

  /** Sets the colours of a band, row by row, and says what of the file has changed. */
  setBand(band: number, colours: Uint8Array): Part[] {
    const at = this.#bandOffset[band]!;
    const end = at + 12 + this.#view.getUint32(at);
    const pixels = this.#pixelsOf(band);
    for (let row = 0; row < this.rowsOf(band); row++)
      // Each row starts with its filter, 0.
      this.bytes.set(colours.subarray(row * this.width, (row + 1) * this.width), pixels + row * (this.width + 1) + 1);
    this.#seal(at);
    this.#checksum();
    return [
      { offset: at, bytes: this.bytes.slice(at, end) },
      { offset: this.#checksumOffset, bytes: this.bytes.slice(this.#checksumOffset, this.#checksumOffset + 21) },
    ];
  }

  /** Sets the whole picture. */
  setAll(colours: Uint8Array): void {
    for (let band = 0; band < this.bands; band++)
      this.setBand(band, colours.subarray(band * this.bandRows * this.width));
  }

  #pixelsOf(band: number): number {
    return this.#bandOffset[band]! + 8 + (band === 0 ? 2 : 0) + 5;
  }

  /** Puts the CRC behind the chunk at `at`. */
  #seal(at: number): void {
    const end = at + 8 + this.#view.getUint32(at);
    this.#view.setUint32(end, crc32(this.bytes.subarray(at + 4, end)));
  }

  /** Adler-32 over all rows, filters included. */
  #checksum(): void {
    let a = 1;
    let b = 0;
    for (let band = 0; band < this.bands; band++) {
      const from = this.#pixelsOf(band);
      for (let i = from, end = from + (this.width + 1) * this.rowsOf(band); i < end; i++) {
        a = (a + this.bytes[i]!) % 65521;
        b = (b + a) % 65521;
      }
    }
    this.#view.setUint32(this.#checksumOffset + 8 + 5, ((b << 16) | a) >>> 0);
    this.#seal(this.#checksumOffset);
  }
}
