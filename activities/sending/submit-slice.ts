import { LONGEST_SLICE_MS } from '../../src/domain/messages/messages.ts';
import { LONGEST_PROBE_MS, ageOf } from '../../src/domain/time/instants.ts';
import { FIRST_INVOICES_OUT, PROFILE_UNPROVED } from '../../src/domain/calibration-state.ts';
import type { ActivityDeps } from '../deps.ts';
import { attemptOver } from '../failure.ts';
import { takeRandom } from '../take-random.ts';
import { CircuitBreaker, type Waiting } from './circuit-breaker.ts';
import { createFailureWatches } from './budgets.ts';
import { findForgottenMerchants } from './merchants.ts';
import { canHaveBytes } from './frozen-supply.ts';
import { withinRetention } from './retention-window.ts';
import { type SliceInput, type SliceResult, SliceSender, type ProcessParts, type SliceParts } from './slice-sender.ts';
import type { SendingPermit } from './sending-permission.ts';
import { StoredErrors } from './stored-errors.ts';
import { Context } from '@temporalio/activity';
import { pollStatuses } from '../settling/poll-statuses.ts';
import type { SendableInvoice } from '../../src/ledger/sending/sending.ts';

/** An error that stays for half of the send time is no passing outage; the invoice gets its reason before that time ends. */
const STORED_ERROR_SHARE = 2;

interface Shared extends ProcessParts {
  readonly failureWatch: ReturnType<typeof createFailureWatches>;
}

/**
 * Sends slices: reads the invoices, freezes their bytes in the ledger portion by portion, POSTs them, and records every
 * answer as it comes.
 *
 * When sending stops, and for which invoices:
 *
 * | cause | stops | until | file |
 * |---|---|---|---|
 * | an operator pauses or cancels; another run or attempt holds the claim | the slice at once | the workflow hands it out again | `sending-permission.ts` |
 * | the service refuses the API key, or gives no answer 20 times in a row | every slice of every worker | a probe succeeds | `circuit-breaker.ts` |
 * | 20 invoices are out, and none is proved to be issued | every slice of every worker | event and GET agree | here |
 * | the profile reads answers or words wrongly, or two invoices get ids of other invoices | every slice of every worker | the profile is corrected, or an operator confirms it | `../calibration.ts`, `sending-permission.ts` |
 * | 403 to one merchant while other merchants pass | that merchant; its unsent invoices are held | the file is dropped again | `forbidden-invoices.ts` |
 * | 403 to every merchant | every slice, as above | a probe succeeds | `forbidden-invoices.ts` |
 * | the same error for one key again and again | that invoice, which becomes unknown | an operator decides | `stored-errors.ts` |
 * | the first POST is older than the retention window | that invoice, which becomes unknown | an operator decides | `retention-window.ts` |
 * | more refusals and failures than LOTE_FAILURE_BUDGET | the batch; the rest is held | the file is dropped again | `budgets.ts` |
 * | the first invoices of a batch are refused or fail | the batch; the rest is held | the file is dropped again | `first-invoices.ts` |
 * | a longer Retry-After than 2 s | the page | the time is over | `send-invoice.ts` |
 */
export function createSubmitSlice({ ledger, service, now, settings }: ActivityDeps) {
  const shared: Shared = {
    circuit: new CircuitBreaker({ ledger, baseUrl: service.baseUrl, now }),
    storedErrors: new StoredErrors({ spanMs: settings.sendMs / STORED_ERROR_SHARE }),
    heard: { isAny: false },
    failureWatch: createFailureWatches(),
  };
  return (deps: ActivityDeps, input: SliceInput): Promise<SliceResult> => submitSlice(deps, shared, input);
}

/** Sends a slice for as long as this process may send for the batch. */
async function submitSlice(deps: ActivityDeps, shared: Shared, input: SliceInput): Promise<SliceResult> {
  const { batchId, run } = input;
  const permit = deps.permission.request({
    batch: { batchId, run },
    lastsMs: LONGEST_SLICE_MS,
    over: attemptOver(),
  });
  const failures = shared.failureWatch(deps, input);
  try {
    if (!(await permit.confirm())) return await nothingHandedOut(deps, input, untilStart(permit));
    const began = deps.now();
    const slice = await sendPlaces(deps, { ...shared, permit, failures }, input);
    // A slice starts nothing after LONGEST_SLICE_MS, so a process that stood still for longer tried nothing in that time.
    return { triedMs: Math.min(Math.max(0, deps.now() - began), LONGEST_SLICE_MS), ...slice };
  } finally {
    failures.leave();
    permit.close();
  }
}

/** Returns what a page without permission waits for. After a stop for good, Lote must be started again; null if only the batch is stopped. */
function untilStart(permit: SendingPermit): Waiting | null {
  const stop = permit.stoppedBecause();
  return stop === null ? null : { reason: stop.code, probeAfterMs: LONGEST_PROBE_MS };
}

/** Takes no invoices, because `sendable` would record an attempt while sending is stopped. */
async function nothingHandedOut(
  deps: ActivityDeps,
  { batchId, page }: SliceInput,
  waiting: Waiting | null,
): Promise<SliceResult> {
  const { unsent } = await deps.ledger.pageProgress(batchId, page);
  return { accepted: 0, left: unsent, stop: false, waiting: unsent === 0 ? null : waiting };
}

/** An invoice that always meets trouble must not go first each time. */
function fewestTriesFirst(invoices: readonly SendableInvoice[]): readonly SendableInvoice[] {
  return invoices.toSorted((a, b) => a.attempts - b.attempts);
}

/**
 * Starts with a random merchant, then takes one invoice of each merchant in turn. If the service has trouble with one
 * merchant, that merchant does not get every probe, and does not cause all answers of a row without success.
 */
function orderOfProbe(invoices: readonly SendableInvoice[], random: () => number): readonly SendableInvoice[] {
  const merchants = new Map<string, SendableInvoice[]>();
  for (const one of fewestTriesFirst(invoices)) {
    const { nif } = one.invoice.merchant;
    const queue = merchants.get(nif) ?? [];
    queue.push(one);
    merchants.set(nif, queue);
  }
  const queues = takeRandom([...merchants.values()], merchants.size, random);
  const longest = Math.max(0, ...queues.map(({ length }) => length));
  return Array.from({ length: longest }, (_, turn) => queues.flatMap((queue) => queue[turn] ?? [])).flat();
}

/** Sends the whole slice. Until the profile is proved, sends only the invoices with a place in the calibration, and the rest if it ends soon. */
async function sendPlaces(deps: ActivityDeps, parts: SliceParts, input: SliceInput): Promise<SliceResult> {
  const { ordinals, hasMore } = await deps.calibration.places(input);
  if (ordinals === null) return sendSlice(deps, parts, input);
  const first = ordinals.length === 0 ? null : await sendSlice(deps, parts, input, new Set(ordinals));
  if (first !== null && (!hasMore || first.stop || first.waiting !== null))
    return { ...first, left: first.left + (hasMore ? 1 : 0) };
  if (!(await awaitOpening(deps, parts.permit.withdrawn))) {
    const rest = await nothingHandedOut(deps, input, await untilOpen(deps));
    return { ...rest, accepted: first?.accepted ?? 0 };
  }
  const rest = await sendSlice(deps, parts, input);
  return { ...rest, accepted: rest.accepted + (first?.accepted ?? 0) };
}

/** Makes one pass over a slice: takes, freezes, sends, and puts back the rest. `only` limits it to these ordinals. */
async function sendSlice(
  deps: ActivityDeps,
  parts: SliceParts,
  input: SliceInput,
  only?: ReadonlySet<number>,
): Promise<SliceResult> {
  const { batchId, from, to } = input;
  const entry = await parts.circuit.enter();
  if (entry.kind === 'refused') return nothingHandedOut(deps, input, entry.waiting);
  const probing = entry.kind === 'probe';
  const range = only === undefined ? ([from, to] as const) : ([Math.min(...only), Math.max(...only)] as const);
  const found = await deps.ledger.sendable(batchId, ...range);
  const handedOut = await withinRetention(
    deps,
    batchId,
    found.filter(({ ordinal }) => only?.has(ordinal) ?? true),
  );
  const sendable = handedOut.filter(canHaveBytes);
  const inOrder = probing ? orderOfProbe(sendable, deps.random) : fewestTriesFirst(sendable);
  const until = deps.now() + LONGEST_SLICE_MS;
  const sender = new SliceSender(deps, parts, { input, until, sendable: inOrder, isProbing: probing });
  const slice = await sender.send();
  // Lote knows the merchants of a batch before its pages begin, except those that were forgotten since.
  const forgotten = handedOut.length - sendable.length;
  if (forgotten === 0 || slice.stop || slice.waiting !== null) return slice;
  return { ...slice, left: slice.left + forgotten, waiting: await findForgottenMerchants(deps, input) };
}

const AGAIN_AFTER_MS = 5_000;

/** How long a slice itself waits for the calibration; usually the first event comes within a second. */
const LONGEST_WAIT_MS = 10_000;
const STEP_MS = 100;
/** Lote asks by GET for the sent invoices after an eighth of the elapsed wait, within these bounds. */
const LOOK_SHARE = 1 / 8;
const FIRST_LOOK_MS = 500;
const LONGEST_LOOK_MS = 60_000;
/** Number of sent invoices that Lote asks about at first. If the service is slow for all of them, it must not get more GETs before `ALL_AFTER_MS`. */
const SAMPLE = 5;
const ALL_AFTER_MS = 60_000;

/**
 * Waits until the calibration lets all invoices pass; returns true if it does. Meanwhile polls the sent invoices by GET, because pages that wait do not poll.
 */
async function awaitOpening(deps: ActivityDeps, withdrawn: AbortSignal): Promise<boolean> {
  const { calibration, now } = deps;
  const began = now();
  while (!withdrawn.aborted && Math.abs(now() - began) < LONGEST_WAIT_MS) {
    // oxlint-disable-next-line no-await-in-loop
    if (await calibration.isOpen()) return true;
    // oxlint-disable-next-line no-await-in-loop
    await look(deps);
    // oxlint-disable-next-line no-await-in-loop
    await Context.current()
      .sleep(STEP_MS)
      .catch(() => undefined);
  }
  return calibration.isOpen();
}

/** Returns what a page waits for while the service profile is not proved. */
async function untilOpen({ calibration }: Pick<ActivityDeps, 'calibration'>): Promise<Waiting> {
  const { found } = await calibration.known(LONGEST_WAIT_MS);
  return { reason: found.length === 0 ? FIRST_INVOICES_OUT : PROFILE_UNPROVED, probeAfterMs: AGAIN_AFTER_MS };
}

async function look(deps: ActivityDeps): Promise<void> {
  const { calibration, ledger, now } = deps;
  const { began, out } = await calibration.known(LONGEST_WAIT_MS);
  if (began === null) return;
  const age = ageOf(began, now());
  const pause = Math.min(Math.max(age * LOOK_SHARE, FIRST_LOOK_MS), LONGEST_LOOK_MS);
  if (!calibration.takeLook(pause)) return;
  const invoices = await ledger.calibrationInvoices(out);
  const pending = invoices.flatMap(({ invoiceId, serviceId, state, failedEvent }) =>
    serviceId !== null && (state === 'accepted' || state === 'unsettled')
      ? [{ invoiceId, serviceId, failedEvent }]
      : [],
  );
  await pollStatuses(deps, age > ALL_AFTER_MS ? pending : pending.slice(0, SAMPLE), now() + LONGEST_WAIT_MS);
}
