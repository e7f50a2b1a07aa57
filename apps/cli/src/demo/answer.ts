/** What a job answered, and where two answers differ. */
export interface Answer {
  /** Standard output by rank. */
  stdout: string[];
  /** Result files by path. */
  files: Record<string, Uint8Array>;
}

export function compareAnswers(expected: Answer, actual: Answer): string[] {
  const differences: string[] = [];
  for (let rank = 0; rank < Math.max(expected.stdout.length, actual.stdout.length); rank++)
    if (expected.stdout[rank] !== actual.stdout[rank])
      differences.push(
        `rank ${rank} printed something else: ${JSON.stringify(expected.stdout[rank])} became ` +
          `${JSON.stringify(actual.stdout[rank])}`,
      );
  for (const path of new Set([...Object.keys(expected.files), ...Object.keys(actual.files)])) {
    const [a, b] = [expected.files[path], actual.files[path]];
    if (!a || !b) differences.push(`result file ${path} is only in one of the runs`);
    else if (a.length !== b.length)
      differences.push(`result file ${path} has ${a.length} bytes in one run and ${b.length} in the other`);
    else {
      const at = a.findIndex((byte, i) => byte !== b[i]);
      if (at >= 0) differences.push(`result file ${path} differs from byte ${at} on`);
    }
  }
  return differences;
}
