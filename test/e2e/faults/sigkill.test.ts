import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { writeInvoiceFile } from '../../support/files/invoice-file.ts';
import { newPlace, runLote, startLote } from '../../support/lote/lote-command.ts';
import { independentSandbox } from '../../support/servers/sandbox-books.ts';
import { sandboxEnv } from '../../support/servers/sandbox-env.ts';

const INVOICES = 240;
/** One of a first run, one of a run that goes on with what a killed one left. */
const KILLS = 2;
/** Each look reads the whole books. */
const POLL_INTERVAL_MS = 25;

describe('a run whose whole process group is killed', () => {
  it('is finished by the same command, with every invoice issued exactly once', { timeout: 300_000 }, async () => {
    const place = await newPlace();
    const sandbox = await independentSandbox({ latencyMs: 200, settleMs: 1_500 });
    const file = join(place.inputDir, 'killed.csv');
    await writeInvoiceFile(file, { invoices: INVOICES });
    const env = {
      ...(await sandboxEnv(place, sandbox)),
      LOTE_SETTLE_TIMEOUT: '30s',
    };
    try {
      for (let kill = 1; kill <= KILLS; kill += 1) {
        // By progress, not by time: a slow machine must not be killed before it has begun.
        const target = randomInt(
          Math.floor(((kill - 1) * INVOICES) / KILLS) + 1,
          Math.floor((kill * INVOICES) / KILLS),
        );
        const running = startLote(['run', file, '--json'], env);
        const ended = running.end.then(() => true);
        while (sandbox.books().totals.invoices < target) {
          if (await Promise.race([ended, sleep(POLL_INTERVAL_MS).then(() => false)])) break;
        }
        running.killGroup();
        const { code } = await running.end;
        console.log(
          `kill ${kill} of ${KILLS} meant at ${target}: the books show ${sandbox.books().totals.invoices} invoices (exit ${code})`,
        );
        expect(code, 'the run ended before it was killed').toBeNull();
      }

      const last = await runLote(['run', file, '--json'], env);

      expect(last.code, last.stderr).toBe(0);
      const books = sandbox.books();
      expect(books.duplicates).toEqual([]);
      expect(books.totals).toMatchObject({ invoices: INVOICES, issued: INVOICES });
      const { batches } = JSON.parse(last.stdout) as {
        batches: { counts: Record<string, number>; reports: { json: string } }[];
      };
      expect(batches[0]?.counts).toMatchObject({ invoices: INVOICES, issued: INVOICES });
      const report = JSON.parse(await readFile(batches[0]?.reports.json ?? '', 'utf8')) as {
        invoices: { serviceId: string }[];
      };
      expect(new Set(report.invoices.map(({ serviceId }) => serviceId))).toEqual(
        new Set(books.invoices.map(({ id }) => id)),
      );
    } finally {
      await sandbox.close();
      await place.remove();
    }
  });
});
