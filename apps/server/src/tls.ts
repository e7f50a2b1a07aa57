/**
 * The certificate: PEM files of the operator, or one that the server makes itself and keeps in `<dataDir>/tls`. Off
 * localhost a browser gives SharedArrayBuffer, Web Locks and WebCrypto to secure pages only, so a classroom needs one
 * or the other.
 */
import { X509Certificate, createPrivateKey, sign, verify, type KeyObject } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';

export interface TlsFiles {
  cert: string;
  key: string;
  /** SHA-256 fingerprint of a self-made certificate, to compare with what the browser shows. */
  fingerprint?: string;
  /** What was wrong with the self-made certificate of before, for the operator to know. */
  notice?: string;
}

const DAY = 24 * 3600 * 1000;

/** @throws Error (a sentence for the terminal) when a file cannot be read. */
export async function loadTls(
  tls: { cert: string; key: string } | 'selfsigned',
  dataDir: string,
  names: readonly string[],
): Promise<TlsFiles> {
  if (tls !== 'selfsigned') {
    // One after the other: of two that cannot be read, the same is named each time.
    const cert = await readPem(tls.cert, 'certificate');
    const key = await readPem(tls.key, 'key');
    return { cert, key };
  }
  const dir = join(dataDir, 'tls');
  const wanted = subjectNames(names);
  const kept = await readKept(dir);
  const damage = kept && damageOf(kept);
  if (kept && damage === undefined && stillGood(kept.cert, wanted))
    return { cert: kept.cert!, key: kept.key!, fingerprint: new X509Certificate(kept.cert!).fingerprint256 };
  const notice =
    damage === undefined
      ? {}
      : {
          notice:
            `the old self-signed certificate cannot be used (${damage}); the server created a new one, and ` +
            'browsers will warn about it once',
        };
  if (damage !== undefined)
    for (const file of ['cert.pem', 'key.pem'])
      await rename(join(dir, file), join(dir, `${file}.damaged`)).catch(() => undefined);
  const now = Date.now();
  // Its X.509 packages are loaded only when a certificate is made.
  const { generate } = await import('selfsigned');
  const made = await generate([{ name: 'commonName', value: 'Mayfly on ' + hostname().slice(0, 40) }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(now - DAY),
    // Browsers refuse certificates that hold for much more than a year.
    notAfterDate: new Date(now + 390 * DAY),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: wanted.map((n) => (isIP(n) ? { type: 7, ip: n } : { type: 2, value: n })) },
    ],
  });
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeWhole(join(dir, 'key.pem'), made.private);
  await writeWhole(join(dir, 'cert.pem'), made.cert);
  return { cert: made.cert, key: made.private, fingerprint: new X509Certificate(made.cert).fingerprint256, ...notice };
}

/** localhost, this machine's name and addresses, and what the operator named. */
export function subjectNames(extra: readonly string[]): string[] {
  const names = new Set(['localhost', '127.0.0.1', '::1']);
  if (/^[A-Za-z0-9.-]+$/.test(hostname())) names.add(hostname());
  for (const list of Object.values(networkInterfaces()))
    for (const a of list ?? []) if (!a.address.startsWith('fe80')) names.add(a.address);
  for (const n of extra) names.add(n);
  return [...names];
}

/** Why the two files cannot be used; undefined: they can. */
function damageOf({ cert, key }: Kept): string | undefined {
  if (cert === undefined || key === undefined)
    return `tls/${cert === undefined ? 'cert' : 'key'}.pem is missing or cannot be read`;
  try {
    const parsed = new X509Certificate(cert);
    if (!parsed.verify(parsed.publicKey)) return 'tls/cert.pem is damaged';
    return keyFits(parsed, createPrivateKey(key)) ? undefined : 'tls/key.pem does not belong to tls/cert.pem';
  } catch {
    return 'tls/cert.pem or tls/key.pem is damaged';
  }
}

/**
 * What the key signs, the certificate verifies. `checkPrivateKey` alone compares public halves: it passes a key whose
 * secret half is damaged, with which no browser can connect.
 */
export function keyFits(cert: X509Certificate, key: KeyObject): boolean {
  if (!cert.checkPrivateKey(key)) return false;
  const text = Buffer.from('a text to sign');
  return verify('sha256', text, cert.publicKey, sign('sha256', text, key));
}

function stillGood(pem: string | undefined, wanted: readonly string[]): boolean {
  const cert = new X509Certificate(pem!);
  if (Date.parse(cert.validTo) < Date.now() + 7 * DAY) return false;
  return wanted.every((n) => (isIP(n) ? cert.checkIP(n) : cert.checkHost(n)) !== undefined);
}

interface Kept {
  cert: string | undefined;
  key: string | undefined;
}

/** Undefined: there is none yet. */
async function readKept(dir: string): Promise<Kept | undefined> {
  const read = (file: string): Promise<string | undefined> => readFile(join(dir, file), 'utf8').catch(() => undefined);
  const names = await readdir(dir).catch((): string[] => []);
  return names.includes('cert.pem') || names.includes('key.pem')
    ? { cert: await read('cert.pem'), key: await read('key.pem') }
    : undefined;
}

/** Takes the text itself, too. */
async function readPem(path: string, what: string): Promise<string> {
  if (path.includes('-----BEGIN ')) return path;
  try {
    return await readFile(path, 'utf8');
  } catch (e) {
    throw new Error(`cannot read the TLS ${what} '${path}': ${(e as Error).message}`);
  }
}

async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(path + '.new', text, { mode: 0o600 });
  await rename(path + '.new', path);
}
