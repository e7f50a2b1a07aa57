/** Packages as people get them: packed, and installed in an empty folder. */
import { spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { patient } from '@mayfly/testing';
import semver from 'semver';

export const root = join(import.meta.dirname, '../../..');

interface Lock {
  packages: Record<string, { engines?: { node?: string } }>;
}

/** What a lockfile lists that asks for a newer Node than the oldest one that Mayfly promises. */
export async function tooNew(lockfile: string): Promise<string[]> {
  const { engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { engines: { node: string } };
  const oldest = semver.minVersion(engines.node)!;
  const { packages } = JSON.parse(await readFile(lockfile, 'utf8')) as Lock;
  if (Object.keys(packages).length < 10) throw new Error(`${lockfile} lists hardly any packages`);
  return Object.entries(packages).flatMap(([path, { engines }]) =>
    engines?.node === undefined || semver.satisfies(oldest, engines.node) ? [] : [`${path} wants Node ${engines.node}`],
  );
}

/** The registry's packages that the files of a bundle import. */
export async function importedBy(dist: string): Promise<Set<string>> {
  const files = (await readdir(dist)).filter((f) => f.endsWith('.js'));
  const bundle = (await Promise.all(files.map((f) => readFile(join(dist, f), 'utf8')))).join('\n');
  return new Set(
    [...bundle.matchAll(/^(?:import|export)\b[^;'"]*?(?:from )?["']([^"'.][^"']*)["'];?$/gm)]
      .map((m) => m[1]!)
      .filter((s) => !isBuiltin(s))
      .map((s) =>
        s
          .split('/')
          .slice(0, s.startsWith('@') ? 2 : 1)
          .join('/'),
      ),
  );
}

/** Packs a workspace and installs its tarball in an empty folder. */
export async function installPacked(workspace: string, folder: string): Promise<void> {
  const npm = (args: string[], cwd: string): void => {
    const r = spawnSync('npm', args, {
      cwd,
      encoding: 'utf8',
      timeout: patient(280_000),
      shell: process.platform === 'win32',
      env: { ...process.env, npm_config_update_notifier: 'false' },
    });
    if (r.status !== 0) throw new Error(`npm ${args.join(' ')}: ${r.stdout}${r.stderr}`);
  };
  npm(['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], workspace);
  const tarball = (await readdir(folder)).find((f) => f.endsWith('.tgz'))!;
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  npm(['install', '--prefer-offline', '--no-audit', '--no-fund', '--omit=dev', `./${tarball}`], folder);
}
