/** What `npm run papers` starts. */
import { untilSignal } from './mayfly-side.ts';
import { papers } from './papers/command.ts';
import { PAPERS } from './papers/registry.ts';

process.exitCode = await untilSignal(() => papers(process.argv.slice(2), PAPERS));
