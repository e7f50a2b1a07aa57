/** The papers whose figures come out again. Another paper adds its row. */
import { blockingVsNonblocking } from './blocking-vs-nonblocking/index.ts';
import { diskless } from './diskless/index.ts';
import { hc3i } from './hc3i/index.ts';
import { operationLevel } from './operation-level/index.ts';
import type { Paper } from './paper.ts';

export const PAPERS: readonly Paper[] = [blockingVsNonblocking, hc3i, diskless, operationLevel];
