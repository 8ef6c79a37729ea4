import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { idempotencyKeyOf, type InvoiceIdentity } from '../../../src/domain/fingerprint.ts';
import type { EventsSaid } from '../../../src/domain/machine/invoice-life.ts';
import type { Command } from '../../../src/domain/machine/invoice-machine.ts';
import { changeLocked } from '../../../src/ledger/change-invoices.ts';
import type { Database } from '../../../src/database/database.ts';
import { type Ledger, openLedger } from '../../../src/ledger/ledger.ts';
import type { RecordSend } from '../../../src/ledger/sending/record-answers.ts';
import { type Batch, type Invoice, Life, type Watcher } from '../../property/histories/life.ts';
import { Random } from '../../property/histories/random.ts';
import { takeTurn } from '../../property/histories/turns.ts';
import { insertInvoice, onBothDatabases, putBatch, storeSaid } from './stored-invoices.ts';

/**
 * The random histories of `test/property/invoice-histories.test.ts`, with their workers that stall, crash and come back
 * late, happen once more to a real ledger. All histories of a round go on together, step by step, through the ledger's
 * own operations where these take one invoice, else through the common path. After each step every row is what the
 * machine says: the invoice, its earlier generations, its frozen bytes, and its lines.
 *
 * LEDGER_ROUNDS=100 LEDGER_SEED=1 npx vitest run test/contract/ledger/histories.test.ts
 */
const ROUNDS = Number(process.env['LEDGER_ROUNDS'] ?? 2);
const SEED = Number(process.env['LEDGER_SEED'] ?? randomInt(1, 2 ** 31));
/** Invoices whose histories go on at the same time. */
const TOGETHER = 60;
const TURNS = 15;

/** One command of a history, and the world in which it was given. */
interface Step {
  readonly before: Invoice;
  readonly batches: readonly Batch[];
  readonly command: Command;
}

/** A history that happens to an invoice of the ledger. */
interface Replay {
  readonly invoiceId: number;
  readonly steps: readonly Step[];
  readonly end: Step;
  /** What the stored deliveries of each document say so far. */
  readonly said: Map<string, EventsSaid>;
  readonly lines: Set<string>;
}

/** Notes each command with the invoice before it. */
class Recorder implements Watcher {
  readonly steps: Step[] = [];
  life: Life | null = null;

  note(what: string, command?: Command): void {
    if (this.life === null || command === undefined) return;
    if (what === 'ordered' || what === 'refused') this.steps.push(stepOf(this.life, command));
  }

  changed(): void {}
  posts(): void {}
  stale(): void {}
}

function stepOf({ invoice, batches }: Life, command: Command): Step {
  return { before: { ...invoice }, batches: batches.map((one) => ({ ...one })), command };
}

/** Batches, documents and keys of history `nth` are its own; `Value` keeps its shape. */
function named<Value>(nth: number, value: Value): Value {
  if (typeof value === 'string') return nameOf(nth, value) as Value;
  if (typeof value === 'function')
    return ((generation: number) => nameOf(nth, (value as (one: number) => string)(generation))) as Value;
  if (Array.isArray(value)) return value.map((one: unknown) => named(nth, one)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, named<unknown>(nth, one)])) as Value;
}

function nameOf(nth: number, name: string): string {
  const [, generation, fingerprint = ''] = /^key (\d+) of (.+)$/u.exec(name) ?? [];
  if (generation !== undefined) return idempotencyKeyOf(identityOf(nth), fingerprint, Number(generation));
  return /^(?:batch \d|another batch|inv_)/u.test(name) ? `${name} of ${nth}` : name;
}

function identityOf(nth: number): InvoiceIdentity {
  return { application: 'model', merchantNif: 'nif', ref: `invoice ${nth}` };
}

onBothDatabases('random histories', (open, schema) => {
  let database: Database;
  let ledger: Ledger;
  beforeAll(async () => {
    database = await open();
    ledger = await openLedger(database, schema);
  });
  afterAll(() => ledger.close());

  it.each(Array.from({ length: ROUNDS }, (_, round) => round))(
    `writes what the machine decides, LEDGER_SEED=${SEED}, round %i`,
    async (round) => {
      const first = round * TOGETHER;
      const replays = await Promise.all(Array.from({ length: TOGETHER }, (_, place) => begin(first + place)));
      const longest = Math.max(...replays.map(({ steps }) => steps.length));
      for (let at = 0; at < longest; at += 1) {
        const going = replays.filter(({ steps }) => at < steps.length);
        // Freezes that the ledger writes together get one time, and each history has a clock of its own.
        const isFreeze = ({ steps }: Replay) => steps[at]?.command.kind === 'freeze';
        for (const replay of going.filter(isFreeze)) await order(replay, at);
        await Promise.all(going.filter((one) => !isFreeze(one)).map((replay) => order(replay, at)));
        await Promise.all(going.map((replay) => addLines(replay, replay.steps[at] ?? replay.end)));
        await Promise.all(going.map((replay) => surround(replay, replay.steps[at + 1] ?? replay.end)));
        await expectRows(going, at);
      }
    },
  );

  async function begin(nth: number): Promise<Replay> {
    const recorder = new Recorder();
    const life = new Life(new Random(Math.imul(SEED, 0x9e3779b1) + nth), recorder);
    recorder.life = life;
    const start = named(nth, stepOf(life, { kind: 'share' }));
    for (let turn = 0; turn < TURNS; turn += 1) takeTurn(life);
    const steps = recorder.steps.map((step) => named(nth, step));
    const end = named(nth, stepOf(life, { kind: 'share' }));
    const invoiceId = await insert(nth, start.before);
    // The service has given this id to another invoice, too.
    await insert(nth, { ...start.before, state: 'accepted', serviceId: `inv_of_another_invoice of ${nth}` }, 'another');
    const replay = { invoiceId, steps, end, said: new Map(), lines: new Set<string>() };
    await surround(replay, steps[0] ?? end);
    await addLines(replay, start);
    return replay;
  }

  async function insert(nth: number, invoice: Invoice, name = 'invoice'): Promise<number> {
    const invoiceId = await insertInvoice(database, `${name} ${nth}`, invoice);
    if (invoice.frozenAt !== null)
      await database.query('INSERT INTO invoice_body VALUES ($1, $2, $3, $4)', [invoiceId, 1, '{}', invoice.frozenAt]);
    return invoiceId;
  }

  /** Batches begin and end, lines are added and deliveries are stored, as they were in the history before this step. */
  async function surround({ said }: Replay, { before, batches }: Step): Promise<void> {
    for (const { id, isClosed } of batches) await putBatch(database, id, isClosed ? 'finished' : 'running');
    for (const document of [before, ...before.kept]) {
      if (document.serviceId === null) continue;
      await storeSaid(database, document.serviceId, document.said, said.get(document.serviceId));
      said.set(document.serviceId, document.said);
    }
  }

  /** The lines of a file are written when its invoices are staged. */
  async function addLines({ invoiceId, lines }: Replay, { batches }: Step): Promise<void> {
    for (const [place, { id, isLive }] of batches.entries()) {
      if (lines.has(id)) continue;
      lines.add(id);
      await database.query(
        `INSERT INTO batch_invoice (batch_id, ordinal, invoice_id, outcome, merchant_nif, invoice_ref, file_rows)
         VALUES ($1, $2, $3, $4, 'nif', 'ref', '{2}')`,
        [id, place + 1, invoiceId, isLive ? null : 'conflict'],
      );
    }
  }

  async function order({ invoiceId, steps, end }: Replay, at: number): Promise<void> {
    const { command, before, batches } = steps[at] ?? end;
    const next = steps[at + 1] ?? end;
    switch (command.kind) {
      case 'freeze': {
        const { batchId, generation, mayExist, now } = command;
        const since = next.before.frozenAt;
        const times = { mayExistSince: mayExist ? since : null, frozenAt: since };
        await ledger.freeze(batchId, [{ invoiceId, generation, body: '{}', ...times }], now);
        return;
      }
      case 'unfreeze': {
        const { batchId, generation, idempotencyKey, reason, now } = command;
        await ledger.unfreeze(batchId, [{ invoiceId, generation, idempotencyKey }], { reason, now });
        return;
      }
      case 'record':
        await ledger.recordSends([sendOf(invoiceId, command)]);
        return;
      case 'next-key': {
        const { generation, attempts, isProven, now } = command;
        const outcome = { kind: 'next-key', reason: { code: '', message: '' }, proven: isProven } as const;
        await ledger.recordSends([{ invoiceId, generation, attempts, sentAt: now, outcome }]);
        return;
      }
      case 'hear': {
        const documents = [before, ...before.kept].flatMap(({ serviceId }) => serviceId ?? []);
        const statuses = command.statuses.filter(({ serviceId }) => documents.includes(serviceId));
        if (statuses.length > 0) await ledger.recordStatus(statuses.map((one) => ({ invoiceId, ...one })));
        else await ledger.applyDeliveries(documents);
        return;
      }
      case 'hold': {
        const { batchId, reason, unanswered, andHeld, now } = command;
        await ledger.holdUnsent(batchId, { reason, unanswered: unanswered ?? undefined, andHeld, now });
        return;
      }
      case 'expire': {
        const { acceptedBefore, reason, now } = command;
        const { id = '' } = batches.find(({ isLive }) => isLive) ?? {};
        await ledger.closePage(id, 1, { acceptedBefore, reason, now });
        return;
      }
      case 'retry': {
        const { batchId, policy, totalUnconfirmed } = command;
        if (totalUnconfirmed) return orderDirectly(invoiceId, command);
        const action = { actionId: randomUUID(), who: null, why: 'a history' };
        await ledger.retryInvoices({ batchId, selection: { rows: [2] }, policy, action });
        return;
      }
      case 'release':
        await ledger.releaseHeld(command.batchId, command.now);
        return;
      case 'repeat':
        await ledger.repeatUnknown(command.batchId, command.frozenAfter);
        return;
      default:
        await orderDirectly(invoiceId, command);
    }
  }

  async function orderDirectly(invoiceId: number, command: Command): Promise<void> {
    await database.transaction((queries) => changeLocked(queries, [{ invoiceId }], () => command));
  }

  async function expectRows(going: readonly Replay[], at: number): Promise<void> {
    const rows = new Map<number, object>();
    await changeLocked(
      database,
      going.toSorted((a, b) => a.invoiceId - b.invoiceId),
      ({ identity, ...invoice }, { invoiceId }) => {
        expect(identity.application).toBe('model');
        rows.set(invoiceId, invoice);
        return null;
      },
    );
    const lines = await database.query<{ batchId: string; outcome: string | null; generation: number | null }>(
      'SELECT batch_id, outcome, generation FROM batch_invoice WHERE invoice_id = ANY($1::bigint[])',
      [`{${[...rows.keys()].join(',')}}`],
    );
    const held = new Map(
      lines.map(({ batchId, outcome, generation }) => [batchId, outcome === null ? 'live' : generation]),
    );
    for (const { invoiceId, steps, end } of going) {
      const history = steps.slice(0, at + 1).map(({ command, before: { state } }) => ({ state, command }));
      const { before } = steps[at + 1] ?? end;
      // A history changes what its batches hold before or after the command.
      const batches = at + 1 === steps.length ? end.batches : [];
      const known = batches.filter(({ id, isLive, holds }) => held.has(id) && (isLive || holds !== null));
      expect({
        row: rows.get(invoiceId),
        lines: known.map(({ id }) => held.get(id)),
        history,
      }).toEqual({ row: before, lines: known.map(({ isLive, holds }) => (isLive ? 'live' : holds)), history });
    }
  }
});

function sendOf(invoiceId: number, { answer }: Extract<Command, { kind: 'record' }>): RecordSend {
  const { takenAt, sharesId: _shares, idIsTaken: _taken, ...sent } = answer;
  return { invoiceId, ...sent, ...(takenAt === null ? {} : { takenAt }) };
}
