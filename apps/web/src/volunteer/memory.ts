/** Memory of this tab with its frames and workers, where the browser measures it (isolated pages of Chromium). */
import { useEffect, useState } from 'react';

const EVERY_MS = 20_000;

interface Measuring {
  measureUserAgentSpecificMemory?: () => Promise<{ bytes: number }>;
}

/** Bytes; undefined: not measured (yet). */
export function useMemory(on: boolean): number | undefined {
  const [bytes, setBytes] = useState<number>();
  useEffect(() => {
    const p = performance as Performance & Measuring;
    if (!on || !p.measureUserAgentSpecificMemory) return;
    let alive = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const measure = async () => {
      // The browser answers when it collects garbage anyway; that may take a while.
      const m = await p.measureUserAgentSpecificMemory!().catch(() => undefined);
      if (!alive) return;
      if (m) setBytes(m.bytes);
      timer = setTimeout(() => void measure(), EVERY_MS);
    };
    void measure();
    return () => {
      alive = false;
      clearTimeout(timer);
    };
  }, [on]);
  return bytes;
}
