/** What `npm run papers` starts. */
import { papers } from './papers/command.ts';
import { PAPERS } from './papers/registry.ts';

process.exitCode = await papers(process.argv.slice(2), PAPERS);
