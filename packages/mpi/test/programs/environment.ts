import type { Program } from './program.ts';

export const environmentPrograms: Record<string, Program> = {
  streams: (m) => {
    m.console.log('rank', m.COMM_WORLD.rank, { a: [1, 2], s: 'x' }, [1.5, null], new Float64Array(2));
    m.print('no end');
    m.console.error('bad %');
    return [m.stdin.readLine(), m.stdin.readLine(), m.stdin.read(3), m.stdin.readAll(), m.stdin.readLine(), m.args];
  },
  files: (m) => {
    const errors: string[] = [];
    m.COMM_SELF.setErrhandler(m.ERRORS_RETURN);
    for (const p of ['none.txt', '../x', '/etc/passwd']) {
      try {
        m.files.read(p);
      } catch (e) {
        errors.push((e as { className?: string }).className ?? String(e));
      }
    }
    m.files.write('out/a.txt', 'hello');
    m.files.append('out/a.txt', ' world');
    m.files.writeAt('out/b.bin', 4, new Uint8Array([1, 2]));
    return [m.files.list(), m.files.readText('in.txt'), m.files.exists('in.txt'), errors];
  },
  exit: (m) => m.exit(m.COMM_WORLD.rank + 3),
  abort: (m) => m.COMM_WORLD.abort(9),
  clock: (m) => {
    const a = m.wtime();
    const b = m.wtime();
    return [a <= b, a > 1e9, m.processorName()];
  },
  finalized: (m) => {
    m.COMM_WORLD.setErrhandler(m.ERRORS_RETURN);
    m.COMM_SELF.setErrhandler(m.ERRORS_RETURN);
    const before = m.isActive();
    m.finalize();
    try {
      m.COMM_WORLD.barrier();
    } catch (e) {
      return [before, m.isActive(), (e as Error).message];
    }
    return 'no error';
  },
};
