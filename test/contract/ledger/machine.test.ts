import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { InvoiceLife, KeptGeneration } from '../../../src/domain/machine/invoice-life.ts';
import { decide, type Command } from '../../../src/domain/machine/invoice-machine.ts';
import { changeLocked } from '../../../src/ledger/change-invoices.ts';
import { arrayLiteral } from '../../../src/ledger/sql.ts';
import type { Database } from '../../../src/database/database.ts';
import { type Ledger, openLedger } from '../../../src/ledger/ledger.ts';
import { answer, around, invoices, NOW, status, type Invoice } from '../../property/any-invoice.ts';
import { insertInvoice, onBothDatabases, putBatch, storeSaid } from './stored-invoices.ts';

/** Invoices that are written together, and how often. */
const TOGETHER = 60;
const RUNS = 8;

const HEAR: Command = { kind: 'hear', statuses: [] };

const word: fc.Arbitrary<Command> = fc.oneof(
  answer.map((one): Command => ({ kind: 'record', answer: { ...one, sharesId: false } })),
  status.map((one): Command => ({ kind: 'hear', statuses: [one] })),
  fc.record({
    kind: fc.constant('freeze' as const),
    batchId: fc.constantFrom('own', 'other'),
    ...{ generation: fc.integer({ min: 1, max: 3 }), mayExist: fc.boolean(), now: fc.constant(NOW) },
  }),
);
const cases = fc.array(fc.record({ invoice: invoices, command: word }), { minLength: TOGETHER, maxLength: TOGETHER });

/** What the ledger writes of random invoices, by its fast statements and by the common path, is what `decide` says of each. */
onBothDatabases('a ledger', (open, schema) => {
  let database: Database;
  let ledger: Ledger;
  let invoicesMade = 0;
  beforeAll(async () => {
    database = await open();
    ledger = await openLedger(database, schema);
    for (const batch of ['own', 'other'])
      for (const state of ['running', 'finished'] as const) {
        await putBatch(database, `${batch} ${state}`, state);
      }
  });
  afterAll(() => ledger.close());

  it('writes what the machine decides of each invoice', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (given) => {
        const made = await Promise.all(given.map(({ invoice, command }) => make(invoice, command)));
        const before = await load(made.map((one) => one.invoiceId));
        for (const { invoiceId, invoice } of made) expect(shown(before.get(invoiceId))).toEqual(shown(invoice));

        await write(made);
        const documents = made.flatMap(({ invoice }) => [
          invoice.serviceId,
          ...invoice.kept.map((one) => one.serviceId),
        ]);
        await ledger.applyDeliveries(documents.filter((id) => id !== null));

        const after = await load(made.map((one) => one.invoiceId));
        for (const { invoiceId, invoice, command } of made) {
          const expected = afterCommand(afterCommand(invoice, command), HEAR);
          expect({ command, before: invoice, after: shown(after.get(invoiceId)) }).toEqual({
            ...{ command, before: invoice },
            after: shown(expected),
          });
        }
      }),
      // The difference names the one invoice that is otherwise.
      { numRuns: RUNS, endOnFailure: true },
    );
  });

  interface Made {
    readonly invoiceId: number;
    readonly invoice: Invoice;
    readonly command: Command;
  }

  /** Its batch and its documents are its own; the ledger finds out whether an id is taken. */
  async function make(given: Invoice, ordered: Command): Promise<Made> {
    const nth = (invoicesMade += 1);
    const ofBatch = (batch: string) => `${batch} ${given.ownerIsClosed ? 'finished' : 'running'}`;
    const named = <Id extends string | null>(id: Id) => (id === null ? null : `${id} of ${nth}`) as Id;
    const invoice = {
      ...{ ...given, ownerBatch: ofBatch(given.ownerBatch), serviceId: named(given.serviceId) },
      kept: given.kept
        .map((one) => ({ ...one, serviceId: named(one.serviceId) }))
        .toSorted((a, b) => a.generation - b.generation),
    };
    const invoiceId = await insertInvoice(database, `invoice ${nth}`, invoice);
    for (const one of invoice.kept) await keep(invoiceId, one);
    for (const { serviceId, said } of [invoice, ...invoice.kept])
      if (serviceId !== null) await storeSaid(database, serviceId, said);
    return { invoiceId, invoice, command: ownCommand(ordered) };

    function ownCommand(command: Command): Command {
      if (command.kind === 'hear')
        return { ...command, statuses: command.statuses.map((one) => ({ ...one, serviceId: named(one.serviceId) })) };
      // Most are about the invoice as it is: only such ones are taken by the fast statements.
      const isOfNow = nth % 3 > 0;
      const { generation, ownerBatch } = invoice;
      if (command.kind === 'freeze')
        return isOfNow
          ? { ...command, generation, batchId: ownerBatch }
          : { ...command, batchId: ofBatch(command.batchId) };
      if (command.kind !== 'record') return command;
      const { outcome } = command.answer;
      const ofIt = outcome.kind === 'accepted' ? { ...outcome, serviceId: named(outcome.serviceId) } : outcome;
      const idIsTaken = ofIt.kind === 'accepted' && invoice.kept.some((one) => one.serviceId === ofIt.serviceId);
      const ofNow = isOfNow ? { generation } : {};
      return { ...command, answer: { ...command.answer, ...ofNow, outcome: ofIt, idIsTaken } };
    }
  }

  async function keep(invoiceId: number, one: KeptGeneration): Promise<void> {
    await database.query(
      `INSERT INTO invoice_generation (invoice_id, generation, fingerprint, idempotency_key, state, service_id, attempts,
         first_sent_at, settled_at, reason_code, reason_message, flags)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::text[])`,
      [
        ...[invoiceId, one.generation, one.fingerprint, one.idempotencyKey, one.state, one.serviceId, one.attempts],
        ...[one.firstSentAt, one.settledAt, one.reason?.code ?? null, one.reason?.message ?? null],
        arrayLiteral(one.flags),
      ],
    );
  }

  async function load(ids: readonly number[]): Promise<ReadonlyMap<number, Invoice>> {
    const loaded = new Map<number, Invoice>();
    const rows = ids.map((invoiceId) => ({ invoiceId }));
    await changeLocked(database, rows, (invoice, { invoiceId }) => {
      loaded.set(invoiceId, invoice);
      return null;
    });
    return loaded;
  }

  /** Each kind in one call, as a page of a batch does. */
  async function write(made: readonly Made[]): Promise<void> {
    await ledger.recordSends(
      made.flatMap(({ invoiceId, command }) => {
        if (command.kind !== 'record') return [];
        const { takenAt, sharesId: _shares, idIsTaken: _taken, outcome, ...sent } = command.answer;
        const proven = outcome.kind === 'rejected' && outcome.proven === true;
        const { kind } = outcome;
        return [
          {
            ...{ invoiceId, ...sent, ...(takenAt === null ? {} : { takenAt }) },
            outcome: kind === 'rejected' ? { kind, reason: outcome.reason, ...(proven ? { proven } : {}) } : outcome,
          },
        ];
      }),
    );
    await ledger.recordStatus(
      made.flatMap(({ invoiceId, command }) =>
        command.kind === 'hear' ? command.statuses.map((one) => ({ invoiceId, ...one })) : [],
      ),
    );
    const frozen = made.flatMap(({ invoiceId, command }) =>
      command.kind === 'freeze' ? [{ invoiceId, command }] : [],
    );
    await Promise.all(
      frozen.map(({ invoiceId, command: { batchId, generation, mayExist } }) =>
        ledger.freeze(batchId, [{ invoiceId, generation, body: '{}', mayExistSince: mayExist ? 1 : null }], NOW),
      ),
    );
  }
});

function afterCommand(invoice: Invoice, command: Command): Invoice {
  const decided = decide(invoice, command);
  return 'refusal' in decided ? invoice : around(invoice, decided);
}

/** All that is written of an invoice. */
function shown(invoice: Invoice | undefined): InvoiceLife & { readonly kept: readonly Omit<KeptGeneration, 'said'>[] } {
  if (invoice === undefined) throw new Error('The ledger has lost an invoice');
  const { frozenAt: _frozen, ownerIsClosed: _closed, said: _said, kept, ...life } = invoice;
  delete (life as { identity?: unknown }).identity;
  return {
    ...life,
    kept: kept.map(({ said: _of, ...one }) => one).toSorted((a, b) => a.generation - b.generation),
  };
}
