/**
 * What `promtool check metrics` looks at: the grammar, names by the conventions, families that are whole. Our own names
 * only are judged by convention.
 */

/** Sentences about what is wrong with a text of metrics. */
export function complaints(text: string): string[] {
  const found: string[] = [];
  const types = new Map<string, string>();
  const helped = new Set<string>();
  const samples = new Map<string, Map<string, number>>();
  const seen = new Set<string>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const meta = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (meta) {
      if (meta[1] === 'HELP') helped.add(meta[2]!);
      else types.set(meta[2]!, meta[3]!);
      continue;
    }
    const sample =
      /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*\})? ([-+]?(?:[0-9.]+(?:e[-+]?[0-9]+)?|Inf)|NaN)$/i.exec(
        line,
      );
    if (!sample) {
      found.push(`no line of the format: ${line}`);
      continue;
    }
    const [, name, labels = '', value] = sample as unknown as [string, string, string | undefined, string];
    if (seen.has(name + labels)) found.push(`twice: ${name}${labels}`);
    seen.add(name + labels);
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    if (!types.has(family) || !helped.has(family)) found.push(`no HELP or TYPE: ${name}`);
    (samples.get(family) ?? samples.set(family, new Map()).get(family)!).set(
      name + labels,
      Number(value.replace('Inf', 'Infinity')),
    );
  }
  for (const [family, type] of types) {
    if (!family.startsWith('mayfly_')) continue;
    if (type === 'counter' && !family.endsWith('_total'))
      found.push(`a counter that does not end in _total: ${family}`);
    if (type !== 'counter' && family.endsWith('_total')) found.push(`_total of a ${type}: ${family}`);
    if (/_(ms|millis|milliseconds|kb|mb|minutes|percent)(_|$)/.test(family)) found.push(`not a base unit: ${family}`);
    if (type === 'histogram') {
      const of = samples.get(family) ?? new Map<string, number>();
      const buckets = [...of].filter(([n]) => n.startsWith(`${family}_bucket`)).map(([, v]) => v);
      if (
        of.size > 0 &&
        (buckets.some((v, i) => i > 0 && v < buckets[i - 1]!) || buckets.at(-1) !== of.get(`${family}_count`))
      )
        found.push(`buckets that do not add up: ${family}`);
    }
  }
  return found;
}
