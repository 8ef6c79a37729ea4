import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepCopy } from '../../../../src/app/files/kept-files.ts';
import { createPurge } from '../../../../src/app/operator/purge-batches.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { temporaryLedger } from '../../../support/servers/temporary-database.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

const CONTENT = 'invoice_ref\n1\n';
const SHA256 = createHash('sha256').update(CONTENT).digest('hex');
const NOW = 1_700_000_000_000;

describe('a purge of kept files', () => {
  let dataDir: string;
  let ledger: Ledger;

  beforeEach(async () => {
    dataDir = await temporaryDirectory();
    await mkdir(join(dataDir, 'files'));
    await writeFile(join(dataDir, 'files', SHA256), CONTENT);
    ledger = await temporaryLedger();
    const batch = await claim('old');
    await ledger.refuseBatch(batch, { rows: 0, fileFindings: [], proof: {}, now: NOW });
  });

  afterEach(() => ledger.close());

  async function claim(runId: string) {
    const file = { file: 'dropped.csv', sha256: SHA256, batchId: 'batch', application: 'default' };
    const run = { workflowId: 'w', runId, attempt: 1, now: NOW + 20, takeOver: true, order: 'person' as const };
    return (await ledger.claimBatch({ ...file, ...run })).batch;
  }

  function purge(of: Ledger) {
    const config = { application: 'default', databaseUrl: null, dataDir, inputDir: dataDir, reportsDir: dataDir };
    return createPurge(config, of)({ olderThanMs: 0, dryRun: false });
  }

  it('removes the copy of a file whose batch is purged', async () => {
    await purge(ledger);

    expect(await readdir(join(dataDir, 'files'))).toEqual([]);
  });

  it('leaves the copy that a batch makes which claims the file meanwhile', async () => {
    const dropped = join(dataDir, 'dropped.csv');
    await writeFile(dropped, CONTENT);
    const claimedLate: Ledger = {
      ...ledger,
      async purgedFiles(...call) {
        const purged = await ledger.purgedFiles(...call);
        await claim('again');
        await keepCopy(dropped, dataDir);
        return purged;
      },
    };

    await purge(claimedLate);

    expect(await readdir(join(dataDir, 'files'))).toEqual([SHA256]);
  });
});
