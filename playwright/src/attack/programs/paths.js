// Tries: to read and write files outside of the job by their names
// Stood for: a name of a file becomes a path on the server
// Ends: done
import { COMM_SELF, COMM_WORLD as comm, ERRORS_RETURN, File, files } from 'mayfly';
import { attempt, marker, otherJob, secretFile } from './canaries.js';
for (const c of [comm, COMM_SELF]) c.setErrhandler(ERRORS_RETURN);
const names = [
  secretFile,
  marker,
  `../${otherJob}/secret.txt`,
  `../../jobs/${otherJob}/secret.txt`,
  '../../../../../../../..' + secretFile,
  '/etc/passwd',
  'file://' + secretFile,
  'a/../../b',
  '..\\..\\x',
  'x\0y',
  '%2e%2e%2fx',
  '.hidden',
  'a//b',
  'con',
  '',
  'x'.repeat(5000),
  '__proto__',
  'constructor',
];
for (const n of names) {
  const text = attempt(() => files.readText(n)) ?? attempt(() => new TextDecoder().decode(files.read(n)));
  if (text) console.log('ESCAPED:', text.slice(0, 200));
  attempt(() => files.write(n, 'escaped'));
  attempt(() => files.writeAt(n, 0, new Uint8Array(8)));
  attempt(() => {
    const f = File.open(comm, n, 'r');
    const b = new Uint8Array(64);
    f.readAt(b, 0);
    console.log('read', n, new TextDecoder().decode(b));
    f.close();
  });
}
console.log('end', files.list().length);
