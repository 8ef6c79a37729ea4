import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NODE_OPTIONS } from '../support/lote/lote-command.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The rows of the one table that a bench prints, by the name of the run. */
async function bench(...options: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const { stdout } = await run(process.execPath, ['--import', 'tsx', 'bench/index.ts', ...options], { cwd: ROOT });
  const rows = stdout.split('\n').filter((line) => line.startsWith('|'));
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return new Map(cells.map(([name = '', ...figures]) => [name, figures]));
}

/** Figures are for people to judge; here it only has to run on the code of today, and to measure what it says. */
describe('npm run bench', () => {
  let directory: string;
  /** Of processes that live for seconds, as in all tests. */
  let node: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lote-bench-'));
    node = join(directory, 'node');
    await writeFile(node, `#!/bin/sh\nexec '${process.execPath}' ${NODE_OPTIONS.join(' ')} "$@"\n`, { mode: 0o755 });
  });

  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('measures Lote from file to report beside a bare script', async () => {
    const table = await bench('--invoices', '60', '--only', 'pglite', '--node', node);

    expect([...table.keys()]).toEqual([
      'run',
      expect.stringMatching(/^-+$/),
      'bare script, 1 of 2',
      'bare script, 2 of 2',
      'Lote on PGlite',
    ]);
    const header = table.get('run') ?? [];
    const lote = table.get('Lote on PGlite') ?? [];
    expect(Number(lote[header.indexOf('wall s')])).toBeGreaterThan(0);
    expect(Number(lote[header.indexOf('ratio')])).toBeGreaterThan(0);
    expect(Number(lote[header.indexOf('events/invoice')])).toBeGreaterThan(0);
  });

  it('measures reading and staging beside csv-parse', async () => {
    const table = await bench('--ingest', '--rows', '2000', '--node', node);

    const names = [...table.keys()].join('\n');
    expect(names).toContain('csv-parse');
    expect(names).toContain('PGlite');
    for (const [name, figures] of [...table].slice(2)) {
      const rate = figures.find((cell) => /^[\d,]+$/u.test(cell));
      expect(Number(rate?.replaceAll(',', '')), name).toBeGreaterThan(0);
    }
  });
});
