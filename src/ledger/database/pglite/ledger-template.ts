import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { schemaFingerprint } from '../migrations/migrate.ts';

const OWNER_ONLY = 0o700;
/** Of WebAssembly that runs for seconds: to optimise it takes longer than it saves (measured: 11.6 s of CPU, 7.3 s without) and 100 MB. */
const V8_FLAGS = ['--liftoff-only'];
/** What Node needs; the process has no use for Lote's secrets. */
const NEEDED = ['PATH', 'HOME', 'TMPDIR', 'LD_LIBRARY_PATH', 'SystemRoot'];

/**
 * The directory of an empty ledger of this version of PGlite and this schema, for new ledgers to be copied from; made when it is missing. To make one takes
 * seconds of computing and 650 MB, so it is made in a process that ends, and by `npm ci` before anybody waits for it.
 *
 * Null: the folder of templates cannot be written.
 */
export async function findTemplate(templates: string): Promise<string | null> {
  const template = join(templates, `pglite-${await pgliteVersion()}-${schemaFingerprint()}`);
  if (existsSync(template)) return template;
  const making = `${template}.${randomUUID()}`;
  try {
    await mkdir(templates, { recursive: true, mode: OWNER_ONLY });
    await makeTemplate(making);
    await rename(making, template);
  } catch {
    await rm(making, { recursive: true, force: true }).catch(() => undefined);
  }
  // Another process may have been faster.
  return existsSync(template) ? template : null;
}

/** Compiled, the process is a plain file beside this one; in a checkout it is TypeScript and needs its loader first. */
async function makeTemplate(directory: string): Promise<void> {
  const isSource = import.meta.url.endsWith('.ts');
  const entry = fileURLToPath(new URL(isSource ? './template-process.ts' : './template-process.js', import.meta.url));
  const loader = isSource ? ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href] : [];
  const env = Object.fromEntries(NEEDED.map((name) => [name, process.env[name]]));
  const child = spawn(process.execPath, [...V8_FLAGS, ...loader, entry, directory], { stdio: 'ignore', env });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (code !== 0) throw new Error(`Making the template of the embedded ledger ended with exit code ${code}`);
}

async function pgliteVersion(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const { version } = JSON.parse(await readFile(join(dirname(entry), '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}
