import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import { rowsOfRefs } from '../../../../src/cli/session/rows-of-refs.ts';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import { createScenario, type TestBatch } from '../../../contract/ledger/scenario.ts';
import { temporaryLedger } from '../../../support/servers/temporary-database.ts';

const BATCH = 'batch-of-another-process';

let directory: string;
let ledger: Ledger;
let batch: TestBatch;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lote-refs-'));
  ledger = await temporaryLedger();
  batch = await createScenario(ledger).run([{ ref: 'F/1' }, { ref: 'F/2' }, { ref: 'F/3' }]);
  await mkdir(join(directory, BATCH));
  const invoices = [
    { ref: 'F/1', rows: [2, 5], state: 'failed' },
    { ref: 'F/2', rows: [3], state: 'issued' },
  ];
  await writeFile(join(directory, BATCH, 'report.json'), JSON.stringify({ invoices }));
});

afterAll(async () => {
  await ledger.close();
  await rm(directory, { recursive: true, force: true });
});

describe('rows of references, from the ledger', () => {
  it('are the rows of exactly these invoices', async () => {
    expect(await rowsOfRefs({ ledger, reportsDir: '/nowhere' }, batch.batchId, ['F/3', 'F/1'])).toHaveLength(2);
    expect(await rowsOfRefs({ ledger, reportsDir: '/nowhere' }, batch.batchId, ['F/2'])).toEqual([3]);
  });

  it('are refused as a whole when one is not of the batch: half a retry is not what was asked for', async () => {
    await expect(rowsOfRefs({ ledger, reportsDir: '/nowhere' }, batch.batchId, ['F/1', 'F/9'])).rejects.toMatchObject({
      code: 'usage',
      message: `Retrying by reference: each must be one of batch ${batch.batchId}, but 1 of 2 are not: F/9. Nothing was sent.`,
    });
  });

  it('names the first five that are not there', async () => {
    const refs = ['a', 'b', 'c', 'd', 'e', 'f'];

    await expect(rowsOfRefs({ ledger, reportsDir: '/nowhere' }, batch.batchId, refs)).rejects.toThrow(
      /but 6 of 6 are not: a, b, c, d, e\. Nothing/u,
    );
  });
});

describe('rows of references, while another process has the ledger', () => {
  it('are those of the report', async () => {
    const place = { ledger: null, reportsDir: directory };

    expect(await rowsOfRefs(place, BATCH, ['F/1'])).toEqual([2, 5]);
    expect(await rowsOfRefs(place, BATCH, ['F/2', 'F/1'])).toEqual([2, 5, 3]);
    await expect(rowsOfRefs(place, BATCH, ['F/3'])).rejects.toMatchObject({ code: 'usage' });
  });

  it('cannot be known before there is a report, and the way without it is named', async () => {
    await expect(rowsOfRefs({ ledger: null, reportsDir: directory }, 'batch-new', ['F/1'])).rejects.toMatchObject({
      code: 'usage',
      message:
        'Retrying by reference: another process has the ledger, and batch batch-new has no report yet to look references up in. Use --row, or wait for the report.',
    });
  });
});
