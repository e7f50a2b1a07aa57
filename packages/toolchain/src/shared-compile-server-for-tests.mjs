/**
 * A compile process (compile-server.ts) of the tests: it has no compiler, and asks the one that all tests share
 * (shared-compiler-for-tests.ts). Archives, modules, and programs with another limit of processor time than the usual
 * one it serves with the real code.
 */
import { connect } from 'node:net';
import { pathToFileURL } from 'node:url';
import { deserialize, serialize } from 'node:v8';

/** @type {Record<string, number>} compiler.ts, LIMITS */
const USUAL_CPU_MS = { script: 20_000, c: 60_000, 'c++': 60_000 };
const isShared = ({ request, watch }) => watch.cpuMs === USUAL_CPU_MS[request.language ?? 'script'];

function ask(address, request) {
  return new Promise((resolve, reject) => {
    const parts = [];
    const socket = connect(address);
    socket.on('error', reject);
    socket.on('data', (part) => parts.push(part));
    socket.on('end', () => resolve(deserialize(Buffer.concat(parts))));
    socket.end(serialize(request));
  });
}

export function serve({ address, real }) {
  const left = () => process.exit(0);
  process.on('disconnect', left);
  const onMessage = async (m) => {
    // Nothing here gets warmer.
    if (m.type === 'warm') process.send({ type: 'warm', id: m.id });
    else if (isShared(m)) process.send({ ...(await answerOf(m)), id: m.id });
    else {
      process.off('message', onMessage);
      process.off('disconnect', left);
      await import(pathToFileURL(real).href);
      process.emit('message', m);
    }
  };
  const answerOf = async ({ request }) => {
    try {
      const answer = await ask(address, request);
      return 'result' in answer ? { type: 'result', ...answer } : { type: 'failed', ...answer };
    } catch (error) {
      return { type: 'failed', message: String(error) };
    }
  };
  process.on('message', onMessage);
  process.send({ type: 'ready' });
}
