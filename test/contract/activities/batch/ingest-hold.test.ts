import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ActivityDeps } from '../../../../activities/deps.ts';
import { ingestBatch, type IngestInput } from '../../../../activities/batch/ingest.ts';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import { createFileReader } from '../../../../src/wiring/files/input-files.ts';
import { ENGLISH } from '../../../../src/texts/choose-language.ts';
import { writeInvoiceFile } from '../../../support/files/invoice-file.ts';
import { temporaryLedger } from '../../../support/servers/temporary-database.ts';

const NOW = 1_700_000_000_000;

let directory: string;
let ledger: Ledger;
/** One for each test: the same files are then other batches. */
let application = 'hold-0';
let tests = 0;
/** Temporal counts the attempts of a run's step. */
let attempts = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lote-hold-'));
  ledger = await temporaryLedger();
  await writeInvoiceFile(join(directory, 'input', 'bad.csv'), { invoices: 3, invalid: [2] });
  await writeInvoiceFile(join(directory, 'input', 'good.csv'), { invoices: 3 });
});

beforeEach(() => {
  tests += 1;
  application = `hold-${tests}`;
});

afterAll(async () => {
  await ledger.close();
  await rm(directory, { recursive: true, force: true });
});

describe('on-invalid "hold"', () => {
  test('a file with a bad row: nothing of it is to be sent', async () => {
    await ingest({ file: 'bad.csv', onInvalid: 'hold', runId: 'first' });
    expect(await outcomes('bad.csv')).toEqual({ held: 2, invalid: 1 });
  });

  test('the same file dropped again under the same rule is still not sent', async () => {
    await ingest({ file: 'bad.csv', onInvalid: 'hold', runId: 'first' });
    await close('bad.csv');
    await ingest({ file: 'bad.csv', onInvalid: 'hold', runId: 'second' });
    expect(await outcomes('bad.csv')).toEqual({ held: 2, invalid: 1 });
  });

  test('a run that died between staging and holding holds when it is taken up again', async () => {
    await ingest({ file: 'bad.csv', runId: 'first' });
    expect(await outcomes('bad.csv')).toEqual({ staged: 2, invalid: 1 });
    await ingest({ file: 'bad.csv', onInvalid: 'hold', runId: 'first' });
    expect(await outcomes('bad.csv')).toEqual({ held: 2, invalid: 1 });
  });

  test('dropped again with "skip", the valid invoices go', async () => {
    await ingest({ file: 'bad.csv', onInvalid: 'hold', runId: 'first' });
    await close('bad.csv');
    await ingest({ file: 'bad.csv', onInvalid: 'skip', runId: 'second' });
    expect(await outcomes('bad.csv')).toEqual({ staged: 2, invalid: 1 });
  });

  test('a file without a bad row goes', async () => {
    await ingest({ file: 'good.csv', onInvalid: 'hold', runId: 'first' });
    expect(await outcomes('good.csv')).toEqual({ staged: 3 });
  });
});

async function ingest(input: Pick<IngestInput, 'file' | 'runId'> & Partial<IngestInput>): Promise<void> {
  attempts += 1;
  const result: unknown = await new MockActivityEnvironment({ attempt: attempts }).run(ingestBatch, deps(), {
    workflowId: `${application}-${input.file}`,
    sha256: null,
    ...input,
  });
  expect(result).toMatchObject({ kind: 'running' });
}

async function batchIdOf(file: string): Promise<string> {
  const batch = (await ledger.listBatches(20)).find(
    (record) => record.file === file && record.application === application,
  );
  return batch?.batchId ?? `no batch of ${file}`;
}

async function close(file: string): Promise<void> {
  await ledger.setBatchState(await batchIdOf(file), 'finished', NOW);
}

async function outcomes(file: string): Promise<Record<string, number>> {
  const counted = await ledger.countOutcomes(await batchIdOf(file));
  return Object.fromEntries(counted.map(({ outcome, invoices }) => [outcome, invoices]));
}

/** What ingest touches of the worker's parts: the rest would be a mistake to touch. */
function deps(): ActivityDeps {
  const parts: Pick<
    ActivityDeps,
    | 'application'
    | 'speech'
    | 'profileDigest'
    | 'ledger'
    | 'files'
    | 'runs'
    | 'operatorLinks'
    | 'settings'
    | 'now'
    | 'latestNow'
  > & {
    readonly service: Pick<ActivityDeps['service'], 'baseUrl'>;
    readonly reports: Pick<ActivityDeps['reports'], 'rowsNotSent'>;
  } = {
    application,
    speech: ENGLISH,
    profileDigest: application,
    service: { baseUrl: 'http://service.example' },
    ledger,
    reports: { rowsNotSent: () => Promise.resolve({ firstRows: [], sentAgain: [], writtenAt: 0 }) },
    files: createFileReader({ inputDir: join(directory, 'input'), dataDir: join(directory, 'data') }),
    runs: { isOpen: () => Promise.resolve(false), endedForMs: () => Promise.resolve(0) },
    operatorLinks: () => ({ searchable: false, console: null, reportsDir: directory }),
    settings: {
      sliceSize: 500,
      settleMs: 1,
      sendMs: 1,
      patienceMs: 1,
      pageSize: 2000,
      failureBudget: 0.5,
      totalFactor: null,
      dropPatienceMs: 1,
      maxConcurrency: 1,
      pollEveryMs: null,
      retry: {
        failedReasonCodes: [],
        maxGenerations: 3,
        repeatsPerInvoice: 10,
        retentionMs: 1,
        rejectionIsProof: true,
        refusedRepeatIsProof: false,
      },
    },
    now: () => NOW,
    latestNow: () => NOW,
  };
  return parts as ActivityDeps;
}
