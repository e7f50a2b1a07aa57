/**
 * Whole numbers up to 2⁵³ − 1 in the eight bytes of a u64, little endian: the one form that they have in frames,
 * records and bodies.
 */
export const getU53 = (v: DataView, at: number): number =>
  v.getUint32(at, true) + v.getUint32(at + 4, true) * 4294967296;

export const setU53 = (v: DataView, at: number, n: number): void => {
  v.setUint32(at, n >>> 0, true);
  v.setUint32(at + 4, Math.floor(n / 4294967296), true);
};
