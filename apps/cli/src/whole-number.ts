/** The whole number that the text is, if it lies in [from, to]. Digits alone: no sign, blank or exponent. */
export function wholeNumber(text: string, from: number, to: number): number | undefined {
  const n = Number(text);
  return /^\d+$/.test(text) && n >= from && n <= to ? n : undefined;
}
