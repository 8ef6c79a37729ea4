import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import { originalOf } from '../../../../src/wiring/files/original-of.ts';
import { purgeBatches } from '../../../../src/wiring/operator/purge-batches.ts';
import { temporaryLedger } from '../../../support/servers/temporary-database.ts';

const CONTENT = 'invoice_ref\n1\n';
const SHA256 = createHash('sha256').update(CONTENT).digest('hex');
const NOW = 1_700_000_000_000;
/** As reading a file finds it. */
const DIALECT = {
  format: 'csv',
  encoding: 'utf-8',
  bom: false,
  delimiter: ',',
  lineEnd: '\n',
  headerRow: 1,
  header: ['invoice_ref'],
  own: false,
};
const ALL = { olderThanMs: 0, dryRun: false, now: NOW + 10 };

describe('a purge that ends after it has set a kept file aside, which somebody claims meanwhile', () => {
  let dataDir: string;
  let ledger: Ledger;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'lote-purge-'));
    await mkdir(join(dataDir, 'files'));
    await writeFile(join(dataDir, 'files', SHA256), CONTENT);
    ledger = await temporaryLedger();
    const batch = await claim('old');
    await ledger.refuseBatch(batch, { rows: 0, fileFindings: [], proof: {}, now: NOW });
  });

  afterEach(async () => {
    await ledger.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  async function claim(runId: string) {
    const file = { file: 'dropped.csv', sha256: SHA256, batchId: 'batch', application: 'default' };
    const run = { workflowId: 'w', runId, attempt: 1, now: NOW + 20, takeOver: true, rereadRefused: true };
    return (await ledger.claimBatch({ ...file, ...run })).batch;
  }

  function places(of: Ledger) {
    return { ledger: of, place: { application: 'default', isOneOfSeveral: false, dataDir }, folders: null };
  }

  async function endedPurge(): Promise<void> {
    let questions = 0;
    const ends: Ledger = {
      ...ledger,
      async purgedFiles(...call) {
        questions += 1;
        if (questions > 1) {
          await claim('again');
          throw new Error('killed');
        }
        return ledger.purgedFiles(...call);
      },
    };
    await expect(purgeBatches(places(ends), ALL)).rejects.toThrow('killed');
  }

  it('leaves it where the corrections of that batch find it', async () => {
    await endedPurge();
    expect(await readdir(join(dataDir, 'files'))).toEqual([expect.stringContaining('.purged-')]);

    const batch = { file: 'dropped.csv', sha256: SHA256, state: 'running', proof: { dialect: DIALECT } } as const;
    expect(await originalOf(batch, dataDir)).toMatchObject({ kind: 'csv' });
  });

  it("also removes what a killed process began to copy, once it is old enough to be nobody's", async () => {
    const [left, begun] = ['.part-left', '.part-begun'].map((name) => join(dataDir, 'files', name));
    for (const path of [left, begun]) await writeFile(path ?? '', CONTENT);
    const daysAgo = new Date(NOW - 2 * 86_400_000);
    await utimes(left ?? '', daysAgo, daysAgo);
    await utimes(begun ?? '', new Date(NOW), new Date(NOW));

    await purgeBatches(places(ledger), { ...ALL, now: NOW });

    expect((await readdir(join(dataDir, 'files'))).filter((name) => name.startsWith('.'))).toEqual(['.part-begun']);
  });

  it('has it put back by the next one', async () => {
    await endedPurge();
    await purgeBatches(places(ledger), ALL);

    expect(await readdir(join(dataDir, 'files'))).toEqual([SHA256]);
  });
});
