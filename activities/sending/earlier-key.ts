import { SERVICE_IDS_REPEATED } from '../../src/domain/calibration-state.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import type { ActivityDeps, RetrySettings } from '../deps.ts';
import { pollOne } from '../settling/poll-statuses.ts';
import type { CreateAnswer } from '../../src/domain/records/service-answers.ts';
import type { EarlierGeneration } from '../../src/ledger/sending/sending.ts';
import type { SendOutcome } from '../../src/ledger/sending/record-answers.ts';

/** The outcome to record. `generation` is set if the outcome belongs to that earlier generation, which has other content. */
interface EarlierVerdict {
  readonly outcome: SendOutcome;
  readonly generation?: number;
}

/** Codes that only name the HTTP status. Two refusals with such a code are the same only if their messages are equal, too. */
const IS_STATUS_ALONE = /^http-\d+/;

/**
 * Judges the repeat of an earlier key, which Lote sends with its bytes before the invoice gets its next key. Only the same answer as before (the same refusal,
 * or the same document, which a GET still calls failed) allows the next key. A new document becomes that of the invoice; if the content was corrected, Lote
 * keeps the document and holds the invoice. Any other answer ends the retry as `unknown`. Returns null if the answer is to be judged as usual.
 */
export async function judgeEarlier(
  deps: Pick<ActivityDeps, 'service' | 'now' | 'calibration' | 'ledger' | 'log'>,
  { invoiceId, earlier }: { readonly invoiceId: number; readonly earlier: EarlierGeneration | null },
  { answer, mayExist }: { readonly answer: CreateAnswer; readonly mayExist: boolean },
): Promise<EarlierVerdict | null> {
  if (earlier === null) return null;
  if (answer.kind === 'created' && answer.serviceId === earlier.serviceId)
    return { outcome: await ofSameDocument(deps, invoiceId, earlier) };
  if (answer.kind === 'created') {
    deps.log.warn('an earlier key brought a document: it is not sent under another key', { invoiceId });
    const outcome = { kind: 'accepted', serviceId: answer.serviceId } as const;
    return earlier.isSameContent ? { outcome } : { outcome, generation: earlier.generation };
  }
  if (answer.kind !== 'refused' || mayExist) return null;
  const { reason } = answer;
  if (isSameRefusal(earlier, reason)) return { outcome: { kind: 'next-key', reason, proven: false } };
  return { outcome: { kind: 'unknown', reason: unclear(`it was refused: ${reason.message}`) } };
}

function isSameRefusal({ state, reason: before }: EarlierGeneration, now: Reason): boolean {
  if (state !== 'rejected' || before?.code !== now.code) return false;
  return !IS_STATUS_ALONE.test(now.code) || before.message === now.message;
}

/** A cache or a proxy may have sent this answer, so the GET decides. */
async function ofSameDocument(
  deps: Pick<ActivityDeps, 'service' | 'now' | 'calibration' | 'ledger'>,
  invoiceId: number,
  { serviceId, reason, isUnconfirmed }: EarlierGeneration,
): Promise<SendOutcome> {
  const update = await pollOne(deps, {
    ...{ invoiceId, serviceId: serviceId ?? '' },
    ...(isUnconfirmed ? { reason } : {}),
  });
  const before = reason ?? unclear('its document failed');
  if (update === null) return { kind: 'pending', reason: before, mayExist: false };
  if (update.status === 'failed') return { kind: 'next-key', reason: update.reason ?? before, proven: true };
  if (update.status !== 'issued')
    return { kind: 'unknown', reason: unclear('its document is not called failed any more') };
  await deps.ledger.recordStatus([update]);
  return { kind: 'pending', reason: unclear('its document is issued'), mayExist: false };
}

function unclear(said: string): Reason {
  const message = `Before it got a new key, Lote asked once more with the earlier one, and the service answered otherwise than before (${said}): a document may exist. Ask its support.`;
  return { code: 'earlier-key-unclear', message };
}

/** Longer than any exchange with the service, so an earlier POST has certainly ended. */
const LONGEST_EXCHANGE_MS = 60_000;

/**
 * Judges an earlier POST without a readable answer by the refusal of its repeat. The refusal proves that nothing was created only on two
 * conditions. The profile says that the service always answers a key that created an invoice with that invoice; and no earlier POST can
 * still be on its way. `sentAt` is when the refused POST left, `lastTriedAt` when the one before it left (epoch ms).
 */
export function refusedRepeat(
  { refusedRepeatIsProof }: Pick<RetrySettings, 'refusedRepeatIsProof'>,
  { reason, sentAt, lastTriedAt }: { readonly reason: Reason; readonly sentAt: number; readonly lastTriedAt: number },
): SendOutcome {
  const alone = sentAt - lastTriedAt >= LONGEST_EXCHANGE_MS;
  return refusedRepeatIsProof && alone ? { kind: 'rejected', reason, proven: true } : refusedAfterLostAnswer(reason);
}

/** Returns the outcome of a refusal after a lost answer. It proves nothing about the lost answer: the service may refuse before it looks up the key. */
export function refusedAfterLostAnswer({ message: said }: Reason): SendOutcome {
  const message = `The service refused the key (${said}) after an earlier answer was lost or could not be read, or while the ledger was older than what was sent: an earlier POST may have created the invoice all the same. Ask its support. If it always answers a key that created an invoice with that invoice, set idempotency.refusedRepeatIsProof in the service profile and reconcile.`;
  return { kind: 'unknown', reason: { code: 'refused-after-lost-answer', message } };
}

/** If more invoices than this have the id of another invoice, it is no single mistake. */
const MOST_IDS_TAKEN = 1;

/** Why sending stops after several invoices were answered with the id of another invoice. */
const IDS_REPEATED: Reason = {
  code: SERVICE_IDS_REPEATED,
  message:
    'The service answered two or more invoices with an id that another invoice has. Either what stands at invoice.id is not the id of the invoice, or a proxy or cache before the service mixes up its answers.',
};

/**
 * Handles an answer with an id that another invoice has. The open connections may mix up answers, so Lote closes them
 * and repeats the interrupted requests with the same keys. At the second such invoice of a batch, sending stops.
 */
export async function distrustIds(
  { service, calibration, log }: Pick<ActivityDeps, 'service' | 'calibration' | 'log'>,
  idsTaken: number,
): Promise<void> {
  log.warn('the service answered an invoice with the id of another one: its connections are closed', { idsTaken });
  service.dropConnections();
  if (idsTaken > MOST_IDS_TAKEN) await calibration.stop(IDS_REPEATED);
}
