/**
 * What Vitest and Playwright tell the runner (run.mjs), over the channel between the processes: a message when a test
 * begins, one when it ends. Without a runner, as with `npx vitest run`, nothing is sent.
 *
 * Messages: `{ files }` how many files there are; `{ file }` one more of them has ended; `{ begins }` a name;
 * `{ ends, state, file, line, title, message }` state is passed, failed or skipped; `{ broken, file, message }` an
 * error outside of tests.
 */
import { readFileSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const send = (message) => process.send?.(message);
const pathOf = (file) => relative(root, file).split(sep).join('/');
/** Without colours, and no longer than helps. */
const plain = (text) => text.replace(/\u001b\[[0-9;]*m/g, '').slice(0, 3000);
const textOf = (e) => plain(e?.stack?.includes(e.message) ? e.stack : `${e?.message ?? e}\n${e?.stack ?? ''}`);

/** A test's name as Vitest's `-t` compares it: the names of its suites and its own, with a space between. */
const patternOf = (test) => (test.type === 'module' ? '' : `${patternOf(test.parent)} ${test.name}`.trim());

export class VitestReport {
  onTestRunStart(specifications) {
    send({ files: specifications.length });
  }
  onTestCaseReady(test) {
    send({ begins: `${pathOf(test.module.moduleId)} > ${test.fullName}` });
  }
  onTestCaseResult(test) {
    const { state, errors } = test.result();
    const file = pathOf(test.module.moduleId);
    send({
      ends: `${file} > ${test.fullName}`,
      state,
      file,
      title: patternOf(test),
      message: (errors ?? []).map((e) => plain(`${textOf(e)}${e.diff ? `\n${e.diff}` : ''}`)).join('\n'),
    });
  }
  onTestModuleEnd(module) {
    const file = pathOf(module.moduleId);
    // A file that did not even load, or a hook around its tests.
    const errors = [...module.errors(), ...[...module.children.allSuites()].flatMap((s) => s.errors())];
    if (errors.length > 0) send({ broken: file, file, message: errors.map(textOf).join('\n') });
    send({ file });
  }
  onTestRunEnd(_modules, unhandled) {
    for (const e of unhandled) send({ broken: 'an error outside of tests', message: textOf(e) });
  }
}

export class PlaywrightReport {
  #left = new Map();

  onBegin(_config, suite) {
    for (const test of suite.allTests())
      this.#left.set(test.location.file, (this.#left.get(test.location.file) ?? 0) + 1);
    send({ files: this.#left.size });
  }
  #name(test) {
    return `${pathOf(test.location.file)} > ${test.title}`;
  }
  onTestBegin(test) {
    send({ begins: this.#name(test) });
  }
  onTestEnd(test, result) {
    const { file, line } = test.location;
    const state = result.status === 'skipped' ? 'skipped' : test.ok() ? 'passed' : 'failed';
    send({
      ends: this.#name(test),
      state,
      file: pathOf(file),
      line,
      title: test.title,
      message: [...result.errors.map((e) => plain(e.message ?? String(e.value))), ...pageOf(result.attachments)].join(
        '\n',
      ),
    });
    const left = this.#left.get(file) - 1;
    this.#left.set(file, left);
    if (left === 0) send({ file: pathOf(file) });
  }
  onError(error) {
    send({ broken: 'an error outside of tests', message: plain(error.message ?? String(error.value)) });
  }
  printsToStdio() {
    return false;
  }
}

/** What the page showed when the test failed, as Playwright describes it. */
function pageOf(attachments) {
  const path = attachments.find((a) => a.name === 'error-context')?.path;
  try {
    const text = path === undefined ? '' : readFileSync(path, 'utf8');
    const page = /```yaml\n([\s\S]*?)```/.exec(text)?.[1];
    return page === undefined ? [] : [plain(`The page:\n${page}`)];
  } catch {
    return [];
  }
}

export default PlaywrightReport;
