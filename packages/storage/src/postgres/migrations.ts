/**
 * The tables, by versions: the first entry makes those of version {@link FIRST}, each other leads to the next version.
 * An entry never changes once a server has used it.
 * `$schema` stands for the quoted name of the schema.
 */
import { MayflyError } from '@mayfly/wire';

export type Run = (text: string, values?: unknown[]) => Promise<{ rows: Record<string, unknown>[] }>;

/** Of the first entry: that of Mayfly 0.2.0, the first that later versions read. */
const FIRST = 8;

const MIGRATIONS: readonly string[] = [
  `
  -- P2: who uses the tables; ahead: the folder of write-ahead files that the owner has, or had (W1)
  CREATE TABLE $schema.owner (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), epoch bigint NOT NULL, who text NOT NULL,
    ahead text NOT NULL DEFAULT '');
  INSERT INTO $schema.owner (epoch, who) VALUES (0, '');

  -- Registry; sum: CRC-32 of key and value
  CREATE TABLE $schema.registry (
    key text COLLATE "C" PRIMARY KEY, value text NOT NULL, sum bigint NOT NULL);
  CREATE TABLE $schema.registry_head (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), revision bigint NOT NULL);
  INSERT INTO $schema.registry_head (revision) VALUES (0);

  -- Message log. opening: counts up with each opening of the stream; next: the number after those that were trimmed;
  -- gone: [from, to) of records whose rows were deleted
  CREATE TABLE $schema.log_stream (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE,
    opening bigint NOT NULL DEFAULT 1, next bigint NOT NULL DEFAULT 0, gone jsonb NOT NULL DEFAULT '[]');
  -- Records first to first + count - 1 (log-chunk.ts)
  CREATE TABLE $schema.log_batch (
    stream bigint NOT NULL REFERENCES $schema.log_stream ON DELETE CASCADE, first bigint NOT NULL,
    count integer NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (stream, first));
  -- Messages hardly shrink
  ALTER TABLE $schema.log_batch ALTER COLUMN bytes SET STORAGE EXTERNAL;

  -- JobFiles and Archive. All of a job goes with its row here. sum: CRC-32 of the bytes
  CREATE TABLE $schema.job (id text COLLATE "C" PRIMARY KEY);
  CREATE TABLE $schema.job_file (
    job text COLLATE "C" NOT NULL REFERENCES $schema.job ON DELETE CASCADE, name text COLLATE "C" NOT NULL,
    length bigint NOT NULL, PRIMARY KEY (job, name));
  -- A file in parts of at most 1 MiB
  CREATE TABLE $schema.job_file_part (
    job text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, part integer NOT NULL, bytes bytea NOT NULL,
    sum bigint NOT NULL, PRIMARY KEY (job, name, part),
    FOREIGN KEY (job, name) REFERENCES $schema.job_file ON DELETE CASCADE);
  -- Standard input: message n; an empty one is its end
  CREATE TABLE $schema.job_stdin (
    job text COLLATE "C" NOT NULL REFERENCES $schema.job ON DELETE CASCADE, n integer NOT NULL, bytes bytea NOT NULL,
    sum bigint NOT NULL, PRIMARY KEY (job, n));
  -- What was sealed; late: the names that the archive had
  CREATE TABLE $schema.job_note (
    job text COLLATE "C" PRIMARY KEY REFERENCES $schema.job ON DELETE CASCADE, note text NOT NULL, sum bigint NOT NULL,
    late text[] NOT NULL);
  CREATE TABLE $schema.job_archive (
    job text COLLATE "C" NOT NULL REFERENCES $schema.job ON DELETE CASCADE, name text COLLATE "C" NOT NULL,
    bytes bytea NOT NULL, sum bigint NOT NULL, PRIMARY KEY (job, name));

  -- ImageStore. at: where the page begins in its pack; sum: CRC-32 of the JSON
  CREATE TABLE $schema.image_pack (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, size integer NOT NULL, bytes bytea NOT NULL);
  -- So that a page is read without its pack
  ALTER TABLE $schema.image_pack ALTER COLUMN bytes SET STORAGE EXTERNAL;
  CREATE TABLE $schema.image_page (
    hash text COLLATE "C" PRIMARY KEY, pack bigint NOT NULL REFERENCES $schema.image_pack ON DELETE CASCADE,
    at integer NOT NULL, length integer NOT NULL);
  CREATE INDEX image_page_of_pack ON $schema.image_page (pack);
  CREATE TABLE $schema.image_manifest (name text COLLATE "C" PRIMARY KEY, json text NOT NULL, sum bigint NOT NULL);

  -- JobOutput: files by their names in a job's folder of output; task: who made a result file
  CREATE TABLE $schema.job_output (
    job text COLLATE "C" NOT NULL REFERENCES $schema.job ON DELETE CASCADE, name text COLLATE "C" NOT NULL,
    length bigint NOT NULL, task integer, PRIMARY KEY (job, name));
  -- Parts of 64 KiB; sum: CRC-32 of the bytes
  CREATE TABLE $schema.job_output_part (
    job text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, part integer NOT NULL, bytes bytea NOT NULL,
    sum bigint NOT NULL, PRIMARY KEY (job, name, part),
    FOREIGN KEY (job, name) REFERENCES $schema.job_output ON DELETE CASCADE);

  -- Ownership: whose the tables are. epoch: as that of owner; until: '-infinity' once it is given up; name: of the
  -- connections of this opening; address: host:port for other servers, who prove with the secret that they are such
  CREATE TABLE $schema.lease (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), epoch bigint NOT NULL, until timestamptz NOT NULL,
    name text NOT NULL, who text NOT NULL, address text NOT NULL, secret text NOT NULL);
  INSERT INTO $schema.lease (epoch, until, name, who, address, secret)
    SELECT epoch, '-infinity', '', who, '', '' FROM $schema.owner;
  -- Servers that stand by, and when they were there last
  CREATE TABLE $schema.standby (name text PRIMARY KEY, who text NOT NULL, address text NOT NULL, seen timestamptz NOT NULL);
  `,
];

/** What this code knows. */
const KNOWN = FIRST + MIGRATIONS.length - 1;

/** P3: of the tables that are there; 0: there are none. @throws MayflyError VERSION_MISMATCH */
export async function versionOf(run: Run, schema: string, place: string): Promise<number> {
  const { rows: tables } = await run('SELECT to_regclass($1) IS NOT NULL AS there', [`${schema}.version`]);
  if (!tables[0]!.there) return 0;
  const { rows } = await run(`SELECT version FROM ${schema}.version`);
  const version = (rows[0]?.version as number | undefined) ?? 0;
  if (version > KNOWN || version < FIRST)
    throw new MayflyError(
      'VERSION_MISMATCH',
      `The database at ${place} has tables of version ${version}; this Mayfly reads versions ${FIRST} (Mayfly 0.2.0) ` +
        `to ${KNOWN}. Use the Mayfly that wrote them. Nothing was changed.`,
    );
  return version;
}

/** P3. @throws MayflyError VERSION_MISMATCH: nothing was changed */
export async function migrate(run: Run, schema: string, place: string): Promise<void> {
  const version = await versionOf(run, schema, place);
  if (version === KNOWN) return;
  await run(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
  await run(`CREATE TABLE IF NOT EXISTS ${schema}.version (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), version integer NOT NULL)`);
  const steps = MIGRATIONS.slice(version === 0 ? 0 : version - FIRST + 1);
  for (const step of steps) await run(step.replaceAll('$schema', schema));
  await run(
    `INSERT INTO ${schema}.version (version) VALUES ($1) ON CONFLICT (one) DO UPDATE SET version = EXCLUDED.version`,
    [KNOWN],
  );
}
