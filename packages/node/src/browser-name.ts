/** What this engine calls itself, for people: 'Chromium 156', 'Firefox 140', 'Safari 19'. */
export function browserName(userAgent: string): string {
  for (const [name, pattern] of [
    ['Firefox', /Firefox\/(\d+)/],
    ['Edge', /Edg\/(\d+)/],
    ['Chromium', /(?:Headless)?Chrom(?:e|ium)\/(\d+)/],
    ['Safari', /Version\/(\d+).*Safari/],
  ] as const) {
    const m = pattern.exec(userAgent);
    if (m) return `${name} ${m[1]}`;
  }
  return 'a browser';
}
