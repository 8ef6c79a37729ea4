import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ActivityDeps } from '../../../../activities/deps.ts';
import { BATCH_CANCELLED } from '../../../../activities/settling/settle.ts';
import { ingestBatch, type IngestInput } from '../../../../activities/batch/ingest.ts';
import { totalsDiffer, totalsFinding } from '../../../../src/domain/control-totals.ts';
import type { Finding } from '../../../../src/domain/invoice.ts';
import { createFileReader } from '../../../../src/app/files/input-files.ts';
import { writeInvoiceFile } from '../../../support/files/batch-file.ts';
import { NOW } from '../../ledger/scenario.ts';
import { activityPlaces, runsThatAre } from '../activity-place.ts';
import type { BatchRecord } from '../../../../src/domain/records/batch-record.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

const placeOf = activityPlaces();
let directory: string;
let ledger: Ledger;
/** One for each test: the same files are then other batches. */
let deps: ActivityDeps;
let application: string;
/** Temporal counts the attempts of a run's step. */
let attempts = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lote-hold-'));
  await writeInvoiceFile(join(directory, 'input', 'bad.csv'), { invoices: 3, invalid: [2] });
  await writeInvoiceFile(join(directory, 'input', 'good.csv'), { invoices: 3 });
});

beforeEach(() => {
  const files = createFileReader({ inputDir: join(directory, 'input'), dataDir: join(directory, 'data') });
  ({ deps } = placeOf({ over: { files, runs: runsThatAre('ended') } }));
  ({ ledger, application } = deps);
});

afterAll(() => rm(directory, { recursive: true, force: true }));

describe('on-invalid "hold"', () => {
  const HELD = { held: 2, invalid: 1 };
  const GOES = { staged: 2, invalid: 1 };

  test.each([
    ['a file with a bad row: nothing of it is to be sent', 'hold', 'hold', 'first', HELD],
    ['the same file dropped again under the same rule is still not sent', 'hold', 'hold', 'second', HELD],
    ['a run that died between staging and holding holds when it is taken up again', 'skip', 'hold', 'first', HELD],
    ['dropped again with "skip", the valid invoices go', 'hold', 'skip', 'second', GOES],
  ] as const)('%s', async (_, onInvalid, later, runId, last) => {
    await ingest({ file: 'bad.csv', onInvalid, runId: 'first' });
    expect(await outcomes('bad.csv')).toEqual(onInvalid === 'hold' ? HELD : GOES);
    if (runId === 'second') await close('bad.csv');
    await ingest({ file: 'bad.csv', onInvalid: later, runId });
    expect(await outcomes('bad.csv')).toEqual(last);
  });
});

describe('control totals that differ', () => {
  const DIFFER = 'expected 4 invoices, found 3';

  test('a file that is started again without them goes, and the report says both and no longer that nothing was sent', async () => {
    await ingest({ file: 'good.csv', expectInvoices: 4, runId: 'first' });
    expect(await outcomes('good.csv')).toEqual({ held: 3 });
    const [held] = await findings('good.csv');
    expect(held).toMatchObject({ code: 'control-totals-differ', severity: 'error' });
    expect(held?.message).toContain(`${DIFFER}. Nothing of it was sent.`);
    await close('good.csv');

    await ingest({ file: 'good.csv', runId: 'second' });

    expect(await outcomes('good.csv')).toEqual({ staged: 3 });
    const message = `The file does not have the control totals it was started with: ${DIFFER}. It was then started again with other totals or none, so it was not held for that any more.`;
    expect(await findings('good.csv')).toEqual([
      { row: null, column: null, code: 'control-totals-overruled', message, severity: 'warning' },
    ]);
  });

  test('other ones that differ, too: the report names those of the last start, once', async () => {
    await ingest({ file: 'good.csv', expectInvoices: 4, runId: 'first' });
    for (const runId of ['second', 'third']) {
      await close('good.csv');
      await ingest({ file: 'good.csv', expectInvoices: 5, runId });
    }

    expect(await outcomes('good.csv')).toEqual({ held: 3 });
    const said = await findings('good.csv');
    expect(said.map(({ code }) => code)).toEqual(['control-totals-differ']);
    expect(said[0]?.message).toContain('expected 5 invoices, found 3');
  });

  test('declared only when an earlier run has sent a part: the finding comes before the others, and says that nothing more was sent', async () => {
    await ingest({ file: 'bad.csv', runId: 'first' });
    const batchId = await batchIdOf('bad.csv');
    const [first] = await ledger.sendable(batchId, 1, 1);
    await ledger.freeze(batchId, [{ invoiceId: first?.invoiceId ?? 0, generation: 1, body: '{}' }], NOW);
    await cancel('bad.csv');

    await ingest({ file: 'bad.csv', expectInvoices: 4, runId: 'second' });

    const [differ] = await findings('bad.csv');
    expect(differ?.code).toBe('control-totals-differ');
    expect(differ?.message).toContain(`${DIFFER}. Nothing more of it was sent.`);
    await close('bad.csv');
    await ingest({ file: 'bad.csv', expectInvoices: 3, runId: 'third' });
    expect((await findings('bad.csv'))[0]?.message).toMatch(/found 3\. It was then started again with other totals/);
  });

  test('of a file whose invoices were all issued before: its next start says what is true of its totals then', async () => {
    await ingest({ file: 'good.csv', runId: 'first' });
    await issueAll('good.csv');
    await close('good.csv');
    const bytes = await readFile(join(directory, 'input', 'good.csv'), 'utf8');
    await writeFile(join(directory, 'input', 'good-again.csv'), `${bytes}\n`);
    await ingest({ file: 'good-again.csv', expectInvoices: 4, runId: 'first' });
    expect(await outcomes('good-again.csv')).toEqual({ 'already-issued': 3 });

    for (const [runId, expectInvoices, code] of [
      ['second', 4, 'control-totals-differ'],
      ['third', 3, 'control-totals-overruled'],
    ] as const) {
      await close('good-again.csv');
      await ingest({ file: 'good-again.csv', expectInvoices, runId });
      expect((await findings('good-again.csv')).map((finding) => finding.code)).toEqual([code]);
    }
  });

  test('declared for a file of which nothing is left to send: the run says so, and the report stays', async () => {
    await ingest({ file: 'good.csv', runId: 'first' });
    await issueAll('good.csv');
    await close('good.csv');
    const input = { file: 'good.csv', runId: 'second' };

    const wrong = await ingested({ ...input, expectInvoices: 4 });
    const right = await ingested({ ...input, expectInvoices: 3 });
    const none = await ingested(input);

    expect(wrong).toMatchObject({ kind: 'closed', totalsDiffer: expect.stringContaining(DIFFER) as string });
    for (const closed of [right, none]) {
      expect(closed).toMatchObject({ kind: 'closed' });
      expect(closed).not.toHaveProperty('totalsDiffer');
    }
    expect(await findings('good.csv')).toEqual([]);
  });

  test('a run that was superseded changes nothing of what the report says', async () => {
    await ingest({ file: 'good.csv', expectInvoices: 4, runId: 'first' });
    const { batchId, fencingToken } = (await record('good.csv')) ?? { batchId: '', fencingToken: 0 };
    await close('good.csv');
    await ingest({ file: 'good.csv', expectInvoices: 5, runId: 'second' });
    const before = await findings('good.csv');

    for (const late of [
      () => ledger.overruleTotals({ batchId, fencingToken }, 'start'),
      () => ledger.noteTotals({ batchId, fencingToken }, totalsFinding(totalsDiffer([DIFFER], false))),
    ])
      await expect(late()).rejects.toMatchObject({ code: 'claim-lost' });

    expect(await findings('good.csv')).toEqual(before);
  });
});

describe('a file that is started again with another reading', () => {
  test('another decimal mark: nothing more is sent, and the reason names both readings and what to do', async () => {
    await priced('mark.csv', '1.234');
    await ingest({ file: 'mark.csv', decimal: ',', onInvalid: 'hold', runId: 'first' });
    await cancel('mark.csv');

    await ingest({ file: 'mark.csv', decimal: '.', runId: 'second' });

    expect(await outcomes('mark.csv')).toEqual({ held: 1 });
    const [reason = ''] = await reasons('mark.csv');
    expect(reason).toContain('read-otherwise: ');
    expect(reason).toContain('decimal mark "." instead of ","');
    expect(reason).toContain(`lote retry ${await batchIdOf('mark.csv')} --state held --reason WHY`);
  });

  test('the first reading again, or none declared: the rest goes', async () => {
    await priced('same.csv', '1.234');
    await ingest({ file: 'same.csv', decimal: ',', runId: 'first' });
    for (const again of [{ decimal: ',' }, {}] as const) {
      await cancel('same.csv');
      await ingest({ file: 'same.csv', decimal: '.', runId: 'other' });
      expect(await outcomes('same.csv')).toEqual({ held: 1 });
      await close('same.csv');

      await ingest({ file: 'same.csv', ...again, runId: 'again' });

      expect(await outcomes('same.csv'), JSON.stringify(again)).toEqual({ staged: 1 });
    }
  });

  test('what a killed worker had to send waits for a person, and goes when the first reading comes back', async () => {
    await priced('killed.csv', '1.234');
    await ingest({ file: 'killed.csv', decimal: ',', runId: 'first' });
    const { batchId, pageSize } = (await record('killed.csv')) ?? { batchId: '', pageSize: 0 };
    expect(pageSize).toBeGreaterThan(0);
    for (const { invoiceId, generation } of await ledger.sendable(batchId, 1, 10))
      await ledger.freeze(batchId, [{ invoiceId, generation, body: '{}' }], NOW);

    await ingest({ file: 'killed.csv', decimal: '.', runId: 'second' });

    expect(await outcomes('killed.csv')).toEqual({ unknown: 1 });
    expect((await reasons('killed.csv'))[0]).toMatch(/^run-lost: .* Its file was started again and is held\./);
    expect((await record('killed.csv'))?.stopped).toMatchObject({ what: 'held' });
    expect(await ledger.openPages(batchId)).toEqual([]);

    await ingest({ file: 'killed.csv', decimal: ',', runId: 'third' });
    expect(await outcomes('killed.csv')).toEqual({ sending: 1 });
    expect((await record('killed.csv'))?.stopped).toBeNull();
  });

  test('with other bytes, as the reason advises, it is another batch with the new reading', async () => {
    await priced('advice.csv', '1.234');
    await ingest({ file: 'advice.csv', decimal: ',', runId: 'first' });
    await cancel('advice.csv');
    await ingest({ file: 'advice.csv', decimal: '.', runId: 'second' });
    await close('advice.csv');
    await priced('advice-2.csv', '1.234', '\n');

    await ingest({ file: 'advice-2.csv', decimal: '.', runId: 'third' });

    expect(await outcomes('advice.csv')).toEqual({ held: 1 });
    expect(await contents('advice-2.csv')).toEqual(['1.234']);
  });

  test('another name of the same encoding changes nothing: it goes; another encoding does', async () => {
    await priced('names.csv', '12');
    await ingest({ file: 'names.csv', encoding: 'latin1', runId: 'first' });
    for (const encoding of ['ISO_8859-1', 'iso88591', 'l1', 'Latin-1']) {
      await cancel('names.csv');
      await ingest({ file: 'names.csv', encoding, runId: encoding });
      expect(await outcomes('names.csv'), encoding).toEqual({ staged: 1 });
    }
    await cancel('names.csv');
    await ingest({ file: 'names.csv', encoding: 'windows-1252', runId: 'other' });
    expect(await outcomes('names.csv')).toEqual({ held: 1 });
    expect(await reasons('names.csv')).toEqual([
      expect.stringContaining('encoding "windows-1252" instead of "latin1"'),
    ]);
  });

  test('a mapping profile that was corrected, removed or not named: nothing more is sent', async () => {
    await profile('erp', { IVA_23: 'IVA_6' });
    await priced('erp-1.csv', '2.50');
    await ingest({ file: 'erp-1.csv', runId: 'first' });
    await profile('erp', { IVA_23: 'IVA_23' });
    await cancel('erp-1.csv');

    await ingest({ file: 'erp-1.csv', runId: 'second' });

    expect(await outcomes('erp-1.csv')).toEqual({ held: 1 });
    expect((await reasons('erp-1.csv'))[0]).toMatch(
      /mapping profile erp \(sha256 [0-9a-f]{12}…\) instead of erp \(sha256 [0-9a-f]{12}…\)/,
    );
    await rm(join(directory, 'input', 'profiles', 'erp.json'));
    await close('erp-1.csv');
    await ingest({ file: 'erp-1.csv', runId: 'third' });
    expect((await reasons('erp-1.csv'))[0]).toContain('no mapping profile instead of erp');
    await close('erp-1.csv');
    await ingest({ file: 'erp-1.csv', profile: 'erp', runId: 'fourth' });
    expect((await reasons('erp-1.csv'))[0]).toContain('profiles/erp.json');
  });

  test.each([
    ['a mark on which no cell depends changes nothing', 'plain.csv', '12', { decimal: ',' }, { decimal: '.' }],
    ['the profile is as it was before', 'shop-1.csv', '2.50', {}, {}],
  ] as const)('%s: the rest goes', async (_, file, price, first, second) => {
    await profile('shop', { IVA_23: 'IVA_6' });
    await priced(file, price);
    await ingest({ file, ...first, runId: 'first' });
    await cancel(file);
    await ingest({ file, ...second, runId: 'second' });
    expect(await outcomes(file)).toEqual({ staged: 1 });
  });

  test('a file whose reading ended three workers is refused with that reason, and read when it is dropped again', async () => {
    await priced('deadly-1.csv', '2.50');
    const start = { sha256: null, order: 'person' as const, file: 'deadly-1.csv' };
    const input = { ...start, workflowId: `${application}-deadly`, runId: 'one' };
    const third = new MockActivityEnvironment({ attempt: (attempts += 1), heartbeatDetails: 2 });
    const fourth = new MockActivityEnvironment({ attempt: (attempts += 1), heartbeatDetails: 3 });
    const beats: unknown[] = [];
    third.on('heartbeat', (details) => beats.push(details));

    const refused = await fourth.run(ingestBatch, deps, input);

    expect(refused).toMatchObject({ kind: 'refused' });
    const { batchId } = refused as { batchId: string };
    expect(await ledger.fileFindings(batchId)).toMatchObject([{ code: 'reading-ends-worker' }]);
    expect(await third.run(ingestBatch, deps, { ...input, runId: 'two' })).toMatchObject({ kind: 'running' });
    expect(beats[0]).toBe(3);
  });

  test('a run that only waited takes over by the kept copy: the file is gone, and the profile counts', async () => {
    await profile('moved', { IVA_23: 'IVA_6' });
    await priced('moved-1.csv', '2.50');
    await ingest({ file: 'moved-1.csv', runId: 'first' });
    const sha256 = (await record('moved-1.csv'))?.sha256 ?? '';
    await rm(join(directory, 'input', 'moved-1.csv'));

    await ingest({ file: 'moved-1.csv', sha256, runId: 'second' });
    expect(await outcomes('moved-1.csv')).toEqual({ staged: 1 });

    await profile('moved', { IVA_23: 'IVA_23' });
    await ingest({ file: 'moved-1.csv', sha256, runId: 'third' });
    expect(await outcomes('moved-1.csv')).toEqual({ held: 1 });
  });
});

async function ingest(input: Pick<IngestInput, 'file' | 'runId'> & Partial<IngestInput>): Promise<void> {
  expect(await ingested(input)).toMatchObject({ kind: 'running' });
}

async function ingested(input: Pick<IngestInput, 'file' | 'runId'> & Partial<IngestInput>): Promise<unknown> {
  attempts += 1;
  return new MockActivityEnvironment({ attempt: attempts }).run(ingestBatch, deps, {
    workflowId: `${application}-${input.file}`,
    sha256: null,
    order: 'person' as const,
    ...input,
  });
}

/** As the service does it, one after the other. */
async function issueAll(file: string): Promise<void> {
  const batchId = await batchIdOf(file);
  for (const { invoiceId, generation } of await ledger.sendable(batchId, 1, 10)) {
    const serviceId = `inv_${application}_${invoiceId}`;
    await ledger.freeze(batchId, [{ invoiceId, generation, body: '{}' }], NOW);
    const outcome = { kind: 'accepted', serviceId } as const;
    await ledger.recordSends([{ invoiceId, generation, attempts: 1, sentAt: NOW, outcome }]);
    await ledger.recordStatus([{ invoiceId, serviceId, status: 'issued', reason: null, now: NOW }]);
  }
}

/** A file with one invoice of this price; it proves no decimal mark but by that. */
async function priced(file: string, price: string, more = ''): Promise<void> {
  const header =
    'invoice_ref;merchant_nif;merchant_legal_name;merchant_email;customer_name;currency;description;quantity;unit_price;tax_code';
  const row = `P-1;501964843;Padaria Central;faturas@padaria.example;Ana;EUR;Bread;1;${price};IVA_23`;
  await writeFile(join(directory, 'input', file), `${header}\n${row}\n${more}`);
}

async function profile(name: string, taxCodes: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(join(directory, 'input', 'profiles'), { recursive: true });
  await writeFile(join(directory, 'input', 'profiles', `${name}.json`), JSON.stringify({ taxCodes }));
}

/** As an operator does it, and the end of the run after it. */
async function cancel(file: string): Promise<void> {
  const { batchId, fencingToken } = (await record(file)) ?? { batchId: file, fencingToken: 0 };
  await ledger.holdUnsent(batchId, { reason: BATCH_CANCELLED, now: NOW, fencingToken });
  await ledger.setBatchState(batchId, 'cancelled', NOW);
}

async function record(file: string): Promise<BatchRecord | undefined> {
  return (await ledger.listBatches(50)).find((one) => one.file === file && one.application === application);
}

async function findings(file: string): Promise<readonly Finding[]> {
  return ledger.fileFindings(await batchIdOf(file));
}

async function reasons(file: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const portion of ledger.batchInvoices(await batchIdOf(file)))
    found.push(...portion.map(({ reason }) => `${reason?.code}: ${reason?.message}`));
  return found;
}

/** Unit prices of what is to be sent. */
async function contents(file: string): Promise<readonly (string | undefined)[]> {
  const sendable = await ledger.sendable(await batchIdOf(file), 1, 10);
  return sendable.map(({ invoice }) => invoice.lines[0]?.unitPrice);
}

async function batchIdOf(file: string): Promise<string> {
  return (await record(file))?.batchId ?? `no batch of ${file}`;
}

async function close(file: string): Promise<void> {
  await ledger.setBatchState(await batchIdOf(file), 'finished', NOW);
}

async function outcomes(file: string): Promise<Record<string, number>> {
  const counted = await ledger.countOutcomes(await batchIdOf(file));
  return Object.fromEntries(counted.map(({ outcome, invoices }) => [outcome, invoices]));
}
