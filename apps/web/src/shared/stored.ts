/**
 * What this browser remembers of its user's choices. Storage may be refused (private windows): then nothing is
 * remembered, and all works.
 */
export function remembered(key: string): string | undefined {
  try {
    return localStorage.getItem(`mayfly.${key}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function remember(key: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`mayfly.${key}`);
    else localStorage.setItem(`mayfly.${key}`, value);
  } catch {
    // refused: see above
  }
}
