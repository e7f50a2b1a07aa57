/**
 * Judges mutants. Owns the process that runs their tests (runner.mjs), and replaces it when a mutant hangs or breaks
 * it.
 *
 * @typedef {'passed' | 'killed' | 'endless' | 'crashed'} Verdict
 * @typedef {{ verdict: Verdict, by?: string, test?: string, message?: string, loaded?: boolean }} Judgement
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const RUNNER = fileURLToPath(new URL('runner.mjs', import.meta.url));
/** A broken runner is tried once more: only what breaks two is the mutant's doing. */
const TRIES = 2;

export class Judge {
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #runner;
  /** The end of what it wrote to its standard error. */
  #errors = '';
  /** What the last run told of each test file, ms; and its longest silence. */
  durations = new Map();
  silence = 0;

  async #start() {
    // Vitest's own variables would tell the inner one that it is a worker of the outer.
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST') && name !== 'NODE_OPTIONS'),
    );
    const runner = fork(RUNNER, [], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: ['--max-old-space-size=2048'],
      env,
    });
    this.#errors = '';
    runner.stderr?.on('data', (bytes) => (this.#errors = (this.#errors + bytes).slice(-4000)));
    // What cannot be sent has no reader: it exits.
    runner.on('error', () => undefined);
    runner.on('exit', () => {
      if (this.#runner === runner) this.#runner = undefined;
    });
    await new Promise((resolve, reject) => {
      runner.once('message', resolve);
      runner.once('exit', () => reject(new Error(`the runner of the tests does not start:\n${this.#errors}`)));
    });
    this.#runner = runner;
    return runner;
  }

  /**
   * @param {{ file?: string, text?: string, tests: readonly string[] }} job
   * @param {number} limitMs how long it may be silent
   * @returns {Promise<Judgement>}
   */
  async run(job, limitMs, tries = TRIES) {
    const runner = this.#runner ?? (await this.#start());
    this.durations.clear();
    this.silence = 0;
    /** @type {Judgement} */
    const judgement = await new Promise((resolve) => {
      let heard = Date.now();
      const finish = (/** @type {Judgement} */ j) => {
        clearInterval(watch);
        runner.off('message', heed);
        runner.off('exit', exited);
        resolve(j);
      };
      const watch = setInterval(() => Date.now() - heard > limitMs && finish({ verdict: 'endless' }), 100);
      const exited = () => finish({ verdict: 'crashed', message: this.#errors.trim().slice(-300) });
      const heed = (m) => {
        this.silence = Math.max(this.silence, Date.now() - heard);
        heard = Date.now();
        if (m.ended !== undefined) this.durations.set(m.ended, m.ms);
        if (m.done) finish({ verdict: m.done.by === undefined ? 'passed' : 'killed', ...m.done });
      };
      runner.on('exit', exited);
      runner.on('message', heed);
      runner.send(job);
    });
    if (judgement.verdict === 'endless' || judgement.verdict === 'crashed') this.close();
    return judgement.verdict === 'crashed' && tries > 1 ? this.run(job, limitMs, tries - 1) : judgement;
  }

  close() {
    this.#runner?.kill('SIGKILL');
    this.#runner = undefined;
  }
}
