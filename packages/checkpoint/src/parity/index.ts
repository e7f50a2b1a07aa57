/** Parity of checkpoint images between nodes: pure parts. Nodes do not use it yet. */
export * from './groups.ts';
export * from './member.ts';
export * from './holder.ts';
export * from './decode-plan.ts';
export * from './protection.ts';
