import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openPostgresDatabase } from '../../../src/database/open-postgres-database.ts';
import { openPostgresLedger } from '../../../src/ledger/open-postgres-ledger.ts';
import { type Ledger, openLedger } from '../../../src/ledger/ledger.ts';
import { recordAnswers, type RecordSend } from '../../../src/ledger/sending/record-answers.ts';
import { pausingDatabase } from '../../support/ledger/statement-plans.ts';
import { postgresSchema, postgresUrl } from '../../support/servers/postgres-database.ts';
import {
  accepted,
  answered,
  createScenario,
  delivery,
  finishStaging,
  type InvoiceText,
  NOW,
  REASON,
  type Scenario,
  type TestBatch,
  recordDeliveries,
} from './scenario.ts';
import type { StatusUpdate } from '../../../src/ledger/settling/settling.ts';

const url = postgresUrl();

/** Enough for every interleaving to come up; each race is run on this many invoices at once. */
const INVOICES = 120;

describe.skipIf(url === null)('two processes on one PostgreSQL ledger', () => {
  const place = postgresSchema(url ?? '');
  const { connectionString, schema } = place;
  let here: Ledger;
  let there: Ledger;
  let scenario: Scenario;
  beforeAll(async () => {
    here = await openPostgresLedger({ connectionString, schema });
    there = await openPostgresLedger({ connectionString, schema });
    scenario = createScenario(here);
  });
  afterAll(async () => {
    await Promise.all([here.close(), there.close()]);
    await place.drop();
  });

  function texts(name: string): readonly { readonly ref: string }[] {
    return Array.from({ length: INVOICES }, (_, index) => ({ ref: `${name}-${index}` }));
  }

  async function frozen(name: string): Promise<{ readonly batch: TestBatch; readonly sends: readonly RecordSend[] }> {
    const batch = await scenario.run(texts(name), INVOICES);
    const sendable = await batch.freezeAll();
    const sends = sendable.map(({ invoiceId, ordinal }) =>
      answered(invoiceId, accepted(scenario.serviceId(`${name}-${ordinal}`))),
    );
    return { batch, sends };
  }

  /** A third process, which can be stopped after a statement. */
  async function slowLedger() {
    const { database, pauseAfter } = pausingDatabase(openPostgresDatabase({ connectionString, schema }));
    const slow = await openLedger(database, schema);
    onTestFinished(() => slow.close());
    return { slow, pauseAfter };
  }

  function serviceIdIn(send: RecordSend): string {
    return send.outcome.kind === 'accepted' ? send.outcome.serviceId : '';
  }

  it('give a file to one of them', async () => {
    const claim = {
      application: scenario.application,
      file: 'f.csv',
      workflowId: 'w',
      attempt: 1,
      now: NOW,
      takeOver: false,
      order: 'person' as const,
    };

    const results = await Promise.all(
      texts('claim').flatMap(({ ref }) =>
        [here, there].map((ledger, index) =>
          ledger.claimBatch({
            ...claim,
            batchId: `b-${scenario.application}-${ref}`,
            sha256: ref,
            runId: `run-${index}`,
          }),
        ),
      ),
    );

    expect(results.filter((result) => result.kind === 'claimed')).toHaveLength(INVOICES);
    expect(results.filter((result) => result.kind === 'owned')).toHaveLength(INVOICES);
  });

  it('hold or freeze an invoice, never both', async () => {
    const batch = await scenario.run(texts('hold'), INVOICES);
    const sendable = await batch.sendable();

    const [moved, held] = await Promise.all([
      Promise.all(
        sendable.map(({ invoiceId }) => here.freeze(batch.batchId, [{ invoiceId, generation: 1, body: 'b' }], NOW)),
      ),
      there.holdUnsent(batch.batchId, { reason: REASON, now: NOW }),
    ]);

    const states = await batch.states();
    expect(moved.flat()).toHaveLength(states.filter((state) => state === 'sending').length);
    expect(held).toBe(states.filter((state) => state === 'held').length);
    expect(held + moved.flat().length).toBe(INVOICES);
  });

  it('settle an invoice when both come at once, one by one and in sets', async () => {
    for (const round of [1, 2, 3]) {
      const { batch, sends } = await frozen(`both-${round}`);
      const events = sends.map((send) => delivery(serviceIdIn(send), 'issued'));
      const half = INVOICES / 2;

      await Promise.all([
        here.recordSends(sends.slice(0, half)),
        ...sends.slice(half).map((send) => here.recordSends([send])),
        recordDeliveries(there, events.slice(half).toReversed()),
        ...events.slice(0, half).map((event) => recordDeliveries(there, [event])),
      ]);

      expect(await here.countOutcomes(batch.batchId)).toMatchObject([{ outcome: 'issued', invoices: INVOICES }]);
    }
  });

  it('give a service id to one invoice when two come with it at once', async () => {
    const one = await frozen('thief-1');
    const two = await frozen('thief-2');
    const stolen = two.sends.map((send, index) => ({
      ...send,
      outcome: accepted(serviceIdIn(one.sends[index] ?? send)),
    }));

    await Promise.all([
      ...one.sends.map((send) => here.recordSends([send])),
      ...stolen.map((send) => there.recordSends([send])),
    ]);

    const lines = [...(await one.batch.lines()), ...(await two.batch.lines())];
    const owners = lines.filter((line) => line.state === 'accepted');
    expect(new Set(owners.map((line) => line.serviceId)).size).toBe(INVOICES);
    expect(owners).toHaveLength(INVOICES);
    expect(new Set(owners.map((line) => line.flags.join()))).toEqual(new Set(['shared-service-id']));
    expect(lines.filter((line) => line.state === 'unknown' && line.reason?.code === 'service-id-taken')).toHaveLength(
      INVOICES,
    );
  });

  it('close a page while its answers come: nothing stays open and no answer is lost', async () => {
    const { batch, sends } = await frozen('closing');

    await Promise.all([
      ...sends.map((send) => here.recordSends([send])),
      there.closePage(batch.batchId, 1, { acceptedBefore: NOW - 1, reason: REASON, now: NOW }),
    ]);

    expect(await here.countOutcomes(batch.batchId)).toMatchObject([{ outcome: 'accepted', invoices: INVOICES }]);
  });

  it('stage portions of one file beside each other, and nothing more of an attempt whose file another one has claimed', async () => {
    const batch = await scenario.begin();
    const stale = { batchId: batch.batchId, fencingToken: batch.fencingToken };
    const invoices = texts('portions').map(({ ref }, index) => scenario.valid(ref, index + 1));
    const portions = Array.from({ length: 6 }, (_, at) => invoices.slice(at * 20, (at + 1) * 20));

    const writes = portions.map((portion) => here.stageInvoices(stale, portion, NOW));
    const claiming = batch.claim({ workflowId: 'workflow-2', runId: 'run-2', takeOver: true });
    const lost = (await Promise.allSettled(writes)).filter(({ status }) => status === 'rejected');
    await claiming;
    await expect(here.stageInvoices(stale, portions[0] ?? [], NOW)).rejects.toMatchObject({ code: 'claim-lost' });
    await there.restartStaging(batch);
    await Promise.all(portions.map((portion) => there.stageInvoices(batch, portion, NOW)));
    await finishStaging(there, batch, { invoices: INVOICES, pageSize: INVOICES });

    for (const end of lost) expect(end).toMatchObject({ reason: { code: 'claim-lost' } });
    expect((await batch.lines()).map(({ ordinal, state }) => [ordinal, state])).toEqual(
      invoices.map(({ ordinal }) => [ordinal, 'staged']),
    );
    expect(await batch.sendable()).toHaveLength(INVOICES);
  });

  it.each([
    ['before it has locked', 'insert-invoices'],
    ['after it has written its lines', 'insert-batch-invoices'],
  ])('stage a file anew while another one attaches itself to its invoices, %s', async (_, statement) => {
    const { slow, pauseAfter } = await slowLedger();
    const shared = [scenario.valid(`anew-${statement}`)];
    const [first, second] = [await scenario.begin(), await scenario.begin()];
    await here.stageInvoices(first, shared, NOW);

    const { reached, go } = pauseAfter(statement);
    const attaching = slow.stageInvoices(second, shared, NOW);
    await reached;
    const restarting = here.restartStaging(first);
    // Time for the two to meet; without it they follow one another, which must do as well.
    await Promise.race([restarting, sleep(300)]);
    go();
    await Promise.all([attaching, restarting]);
    await here.stageInvoices(first, shared, NOW);

    for (const batch of [first, second]) {
      await finishStaging(here, batch, { invoices: 1, pageSize: 1 });
      expect(await batch.lines()).toMatchObject([{ state: 'staged', reason: null }]);
      expect(await here.openPages(batch.batchId)).toEqual([1]);
    }
  });

  it.each([
    ['a tax number with zeros in front before one without', { nif: '07234567890' }, { nif: '7234567890' }],
    ['a tax number without zeros in front before one with', { nif: '8234567890' }, { nif: '08234567890' }],
    ['a reference before the one that has lost its zero', { ref: '41.10' }, { ref: '41.1' }],
  ])('find an invoice that another file stages at the moment under %s', async (_, first, second) => {
    const { slow, pauseAfter } = await slowLedger();
    const [early, late] = [await scenario.begin(), await scenario.begin()];
    const invoiceWith = (text: Partial<InvoiceText>) => scenario.valid({ ref: 'spelled', ...text });

    const { reached, go } = pauseAfter('insert-batch-invoices');
    const staging = slow.stageInvoices(early, [invoiceWith(first)], NOW);
    await reached;
    const meanwhile = here.stageInvoices(late, [invoiceWith(second)], NOW);
    // Time for the two to meet; without it they follow one another, which must do as well.
    await Promise.race([meanwhile, sleep(300)]);
    go();
    await Promise.all([staging, meanwhile]);

    expect(await early.lines()).toMatchObject([{ state: 'staged' }]);
    expect(await late.lines()).toMatchObject([{ state: 'conflict' }]);
  });

  it('send nothing that the other one freezes between the note of interrupted sends and the reading after it', async () => {
    const batch = await scenario.run(['between-0', 'between-1']);
    const [first, second] = (await batch.sendable()).map(({ invoiceId, generation }) => [
      { invoiceId, generation, body: 'b' },
    ]);
    await here.freeze(batch.batchId, first ?? [], NOW);
    const database = openPostgresDatabase({ connectionString, schema });
    // The note is the only transaction of what is handed out.
    const transaction: typeof database.transaction = async (work) => {
      const result = await database.transaction(work);
      if (isOpen) await here.freeze(batch.batchId, second ?? [], NOW);
      return result;
    };
    let isOpen = false;
    const slow = await openLedger({ ...database, transaction }, schema);
    onTestFinished(() => slow.close());
    isOpen = true;
    const handedOut = async () =>
      (await slow.sendable(batch.batchId, 1, 2)).map(({ invoice, state, mayExist }) => [invoice.ref, state, mayExist]);
    expect(await handedOut()).toEqual([
      ['between-0', 'sending', true],
      ['between-1', 'staged', false],
    ]);
    expect(await slow.freeze(batch.batchId, second ?? [], NOW), 'it is left to the next round').toEqual([]);
    expect(await handedOut()).toEqual([
      ['between-0', 'sending', true],
      ['between-1', 'sending', true],
    ]);
  });

  /** Records a second document for each key; meanwhile, before that is committed, does the work. */
  async function whileSecondDocuments(sends: readonly RecordSend[], work: () => Promise<unknown>): Promise<void> {
    const second = sends.map((send) => ({ ...send, outcome: accepted(`${serviceIdIn(send)}-2`) }));
    const database = openPostgresDatabase({ connectionString, schema });
    try {
      let working: Promise<unknown> = Promise.resolve();
      await database.transaction(async (queries) => {
        await recordAnswers({ ...database, query: (text, params) => queries.query(text, params) }, second);
        working = work();
        // Time for the two to meet; without it they follow one another, which must do as well.
        await Promise.race([working, sleep(300)]);
      });
      await working;
    } finally {
      await database.close();
    }
  }

  function failuresOf(sends: readonly RecordSend[]): readonly StatusUpdate[] {
    return sends.map((send) => ({
      ...{ invoiceId: send.invoiceId, serviceId: serviceIdIn(send), status: 'failed', reason: REASON, now: NOW },
    }));
  }

  it('keep each document of a key that brings two more at the same moment', async () => {
    const { batch, sends } = await frozen('three');
    await here.recordSends(sends);
    const more = ['second', 'third'].map((name) =>
      sends.map((send) => ({ ...send, outcome: accepted(scenario.serviceId(`${name}-${send.invoiceId}`)) })),
    );

    await Promise.all([here.recordSends(more[0] ?? []), there.recordSends(more[1] ?? [])]);

    await batch.finish();
    const { application } = scenario;
    const open = await here.openDocuments({ application, now: NOW, all: true, afterInvoiceId: 0, limit: 9_999 });
    const known = new Set(open.map(({ serviceId }) => serviceId));
    expect(
      more
        .flat()
        .map(serviceIdIn)
        .filter((id) => !known.has(id)),
    ).toEqual([]);
  });

  it('never call an invoice failed whose key brings a second document at the same moment', async () => {
    const { batch, sends } = await frozen('second-document');
    await here.recordSends(sends);

    await whileSecondDocuments(sends, () => here.recordStatus(failuresOf(sends)));

    expect(new Set(await batch.states())).toEqual(new Set(['accepted']));
  });

  it('never correct a failed invoice whose key brings a second document at the same moment', async () => {
    const { sends } = await frozen('second-corrected');
    await here.recordSends(sends);
    await here.recordStatus(failuresOf(sends));
    const corrections = texts('second-corrected').map(({ ref }, index) =>
      scenario.valid({ ref, unitPrice: '99' }, index + 1),
    );
    const correcting = await scenario.begin();
    const { slow, pauseAfter } = await slowLedger();
    const { reached, go } = pauseAfter('insert-invoices');
    const staging = slow.stageInvoices(correcting, corrections, NOW);
    await reached;
    await whileSecondDocuments(sends, () => {
      go();
      return staging;
    });

    expect(new Set(await correcting.states())).toEqual(new Set(['conflict']));
  });

  it('never send a correction of an invoice that a webhook issues at the same moment', async () => {
    const { batch, sends } = await frozen('correct');
    await here.recordSends(sends);
    await here.recordStatus(failuresOf(sends));
    const corrections = texts('correct').map(({ ref }, index) => scenario.valid({ ref, unitPrice: '99' }, index + 1));
    const second = await scenario.begin();

    await Promise.all([
      ...[0, 1, 2, 3].map((part) =>
        here.stageInvoices(
          second,
          corrections.filter((_, index) => index % 4 === part),
          NOW,
        ),
      ),
      ...sends.map((send) => recordDeliveries(there, [delivery(serviceIdIn(send), 'issued')])),
    ]);

    expect(await here.sendable(second.batchId, 1, INVOICES)).toEqual([]);
    expect(new Set(await batch.states())).toEqual(new Set(['issued']));
    expect(
      (await second.lines()).every(
        (line) => line.state === 'conflict' || line.flags.includes('issued-in-earlier-generation'),
      ),
    ).toBe(true);
  });
});
