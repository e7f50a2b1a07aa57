/** Parity of checkpoint images between nodes: pure parts. */
export * from './groups.ts';
export * from './member.ts';
export * from './holder.ts';
export * from './decode-plan.ts';
export * from './protection.ts';
export * from './job-groups.ts';
export * from './checksum-pages.ts';
