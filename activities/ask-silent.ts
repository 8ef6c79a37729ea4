import { asksDue, nextAskInMs } from '../src/domain/ask-times.ts';
import type { SilentInvoice } from '../src/domain/ports/ledger.ts';
import type { ActivityDeps } from './deps.ts';
import { askAll } from './ask-all.ts';
import { drawFrom } from './draw-from.ts';

export interface SilentPage {
  readonly batchId: string;
  readonly page: number;
  readonly settleMs: number;
}

/** Asked before the others: an engine that is slow for all of them must not be asked for thousands. */
const FEW = 20;
/** A page is 2,000 invoices or somewhat more; what is beyond this is asked for in the next review. */
const MOST_ASKED_AT_ONCE = 5_000;

/**
 * GETs what is silent and whose time has come: some drawn by lot first, and twice as many each time as long as one of them has a final word. When
 * none has, the engine needs its time, and no webhook was lost: the others are asked another time. Before the settle time ends, each is asked.
 */
export async function askSilent(deps: ActivityDeps, page: SilentPage, until: number): Promise<void> {
  for (let some = FEW; deps.now() < until; some *= 2) {
    // Read again each time: webhooks that arrive meanwhile make a question needless.
    const due = await dueInvoices(deps, page);
    const chosen = [...due.lastChance, ...drawFrom(due.others, some, deps.random)];
    const finals = await askAll(deps, chosen, until);
    if (finals === 0 || chosen.length === due.lastChance.length + due.others.length) return;
  }
}

/** Every silent invoice, whether or not its time has come. The settled times stay what they were. */
export async function askOutOfTurn(deps: ActivityDeps, { batchId, page }: SilentPage, until: number): Promise<void> {
  await askAll(deps, await deps.ledger.silent(batchId, page, deps.now() + 1, MOST_ASKED_AT_ONCE), until);
}

interface Due {
  /** Nobody asks for these again before they are called unsettled. */
  readonly lastChance: readonly SilentInvoice[];
  readonly others: readonly SilentInvoice[];
}

async function dueInvoices(deps: ActivityDeps, { batchId, page, settleMs }: SilentPage): Promise<Due> {
  const now = deps.now();
  const due: Record<keyof Due, SilentInvoice[]> = { lastChance: [], others: [] };
  for (const invoice of await deps.ledger.silent(batchId, page, now, MOST_ASKED_AT_ONCE)) {
    // Each by its own age: within a page that was held up, the first may have waited for hours when the last was accepted.
    const age = now - invoice.acceptedAt;
    const asks = asksDue(settleMs, age);
    if (invoice.asks >= asks) continue;
    const kind = nextAskInMs(settleMs, age) === null ? 'lastChance' : 'others';
    due[kind].push({ ...invoice, asks });
  }
  return due;
}
