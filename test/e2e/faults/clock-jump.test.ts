import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, describe, inject, it } from 'vitest';
import { runLote } from '../../support/lote/lote-command.ts';
import { distributedPlace } from '../../support/lote/distributed-place.ts';
import { leftBooks } from '../../support/crash/left-books.ts';
import { writeInvoiceFile } from '../../support/files/invoice-file.ts';

const INVOICES = 20;
/** Moves the clock of a process by what a file says, in milliseconds. */
const MOVABLE = `import { readFileSync } from 'node:fs';
const { now } = Date;
Date.now = () => now() + Number(readFileSync(new URL('./offset', import.meta.url), 'utf8'));`;

describe.skipIf(inject('postgresUrl') === null)(
  'a worker whose clock jumps while it runs',
  { timeout: 200_000 },
  () => {
    it.each([
      ['an hour ahead', 3_600_000, 'ahead'],
      ['an hour back', -3_600_000, 'behind'],
    ])('%s sends nothing by it, says so, and goes on when it is set right', async (_, offset, where) => {
      const servers = { postgresUrl: inject('postgresUrl') ?? '', temporalAddress: inject('temporalAddress') };
      const there = await distributedPlace(servers);
      try {
        const clock = join(there.place.directory, 'offset');
        const preload = join(there.place.directory, 'clock.mjs');
        await writeInvoiceFile(join(there.place.inputDir, 'night.csv'), { invoices: INVOICES });
        await Promise.all([writeFile(clock, '0'), writeFile(preload, MOVABLE)]);
        const env = { ...there.env, NODE_OPTIONS: `--import=${pathToFileURL(preload).href}` };
        const worker = there.processes.start(['worker'], env);
        await worker.said('Worker on task queue');
        await writeFile(clock, String(offset));

        const run = runLote(['run', join(there.place.inputDir, 'night.csv'), '--json'], there.client);
        await worker.said(`s ${where}. Set both (NTP)`);
        expect(await there.database.rows('SELECT 1 FROM invoice')).toEqual([]);
        await writeFile(clock, '0');

        const { code, stderr } = await run;
        expect(code, stderr).toBe(0);
        there.sandbox.signal('SIGTERM');
        await there.sandbox.end;
        expect(await leftBooks(there.sandboxPlace.dataDir)).toMatchObject({
          duplicates: [],
          totals: { issued: INVOICES },
        });
      } finally {
        await there.remove();
      }
    });
  },
);
