import type { InvoiceState } from './invoice-state.ts';
import type { Reason } from './invoice.ts';
import { misfitMessage, shownWord, type ProfileMisfit } from './profile-misfit.ts';
import type { CreateAnswer, StatusAnswer } from './records/service-answers.ts';

/** So many invoices may be out before the service profile is proved to read this service. */
export const CALIBRATION_INVOICES = 20;

/** The profile, or what stands between, contradicts the service: no word counts and nothing is sent until the profile is corrected or confirmed. */
export const PROFILE_CONTRADICTION = 'profile-contradiction';

/** Nothing is sent: several invoices were answered with one id. */
export const SERVICE_IDS_REPEATED = 'service-ids-repeated';

/** Two invoices that contradict: one alone may be a mistake of the service. */
const CONTRADICTIONS = 2;
/** Failed invoices without any reason, before one is known to be issued. */
const MOST_BARE = 3;
/** Invoices whose POST gets an answer that cannot be read, and such answers to one of them: its repeats brought nothing else. */
const MOST_MISREAD = { invoices: 5, answersOfOne: 3 };
const MOST_NOTED = 20;

/** What is waited for while the gate is closed and nothing was found. */
export const FIRST_INVOICES_OUT = 'first-invoices';
/** The same where something was found, and the reason of what is not sent in the end. */
export const PROFILE_UNPROVED = 'profile-unproved';

const ANSWERS = 'answers-unreadable';
const REFUSALS = 'refusals-unreadable';
const STATUS = 'invoice-status-unreadable';
const WORDS = 'invoice-status-unknown';
const EARLY = 'issued-word-early';
const BARE = 'failed-without-reason';
/** Codes of the reasons for which nothing is sent under a profile. */
export const CALIBRATION_STOPS: readonly string[] = [ANSWERS, PROFILE_CONTRADICTION, SERVICE_IDS_REPEATED];
const DELIVERIES = /^(?:deliveries|events)-/;
/** A secret or an address may change at any time: these are found under a proved profile, too. */
const LASTING = /^deliveries-/;
/** The gate stays closed while one of these is found, even if an invoice was issued. */
const BLOCKING = new Set([ANSWERS, REFUSALS, EARLY]);

/** An invoice that may go out before the gate is open. */
export interface CalibrationPlace {
  readonly batchId: string;
  readonly ordinal: number;
}

/** What the ledger knows of an invoice that may go out. */
export interface CalibrationInvoice extends CalibrationPlace {
  readonly invoiceId: number;
  readonly state: InvoiceState;
  /** POSTs that were recorded. */
  readonly attempts: number;
  readonly serviceId: string | null;
  /** A stored event says that it failed; null: none does. */
  readonly failedEvent: { readonly reason: Reason | null } | null;
}

/**
 * What is known of one service profile at one account. The gate is closed until an `issued` event and an `issued` GET of one invoice agree; each further word
 * that the profile calls final is proved in the same way when it is first seen.
 */
export interface CalibrationState {
  /** Times are epoch milliseconds. */
  opened: number | null;
  /** An operator has confirmed the profile: every word counts. */
  trusted: boolean;
  /** Why nothing is sent any more under this profile. */
  stop: Reason | null;
  began: number | null;
  out: (CalibrationPlace & { readonly at: number })[];
  /** Words of the status in answers to POSTs. */
  begins: string[];
  /** What was seen to agree: `answer WORD`, `event TYPE`, and `failed event`. */
  proved: string[];
  /** First looks at final words that are not proved yet. */
  looks: { word: string; serviceId: string; at: number }[];
  /** Whether an event has said something final of an invoice. */
  hasEvents: boolean;
  /** What speaks for a finding: keys or service ids by code. */
  evidence: Record<string, string[]>;
  found: ProfileMisfit[];
}

/** What the profile says, in small letters, and how long is waited for a proof, in milliseconds. */
export interface CalibrationRules {
  readonly issued: readonly string[];
  readonly failed: readonly string[];
  /** The service is told where to send events. */
  readonly expectsEvents: boolean;
  /** Without any delivery for so long after the first POST, GET alone opens the gate. */
  readonly noEventsMs: number;
  /** Between two GETs of an invoice that make the second one a proof. */
  readonly secondLookMs: number;
  /** The same for a word that answers to POSTs begin with. */
  readonly earlyLookMs: number;
}

/** An answer to the GET of an invoice. */
export interface AskedStatus {
  readonly serviceId: string;
  readonly answer: Extract<StatusAnswer, { kind: 'status' }>;
  /** What an event says of the invoice; `type`: of one that says issued. */
  readonly reported: {
    readonly verdict: 'issued' | 'failed';
    readonly type?: string;
    readonly hasReason?: boolean;
  } | null;
  readonly at: number;
}

/** Nothing is known yet. */
export function blankCalibration(): CalibrationState {
  return {
    ...{ opened: null, trusted: false, stop: null, began: null, hasEvents: false },
    ...{ out: [], begins: [], proved: [], looks: [], evidence: {}, found: [] },
  };
}

/** Whether all invoices may go out. */
export function isOpen({ opened, trusted, stop }: CalibrationState): boolean {
  return trusted || (opened !== null && stop === null);
}

/** What does not fit the profile: why nothing is sent, first. */
export function misfitsOf({ stop, found, trusted }: CalibrationState): readonly ProfileMisfit[] {
  if (trusted) return found.filter(({ code }) => isLasting(code));
  const isStop = ({ code }: ProfileMisfit): boolean => code === stop?.code;
  return [...found.filter(isStop), ...found.filter((one) => !isStop(one))];
}

/** Whether a finding counts under a proved profile, too. */
function isLasting(code: string): boolean {
  return LASTING.test(code);
}

/** Takes up what a process found, or (message null) that it is over. */
export function takeFinding(
  state: CalibrationState,
  { code, message }: { readonly code: string; readonly message: string | null },
  at: number,
): void {
  if (isOpen(state) && !isLasting(code)) return;
  if (message === null) clearFound(state, code);
  else noteFound(state, { code, message }, at);
}

/** Adds what was found; the latest sentence stands. */
export function noteFound(state: CalibrationState, { code, message }: Reason, at: number): void {
  const known = state.found.find((one) => one.code === code);
  const found = {
    code,
    message: misfitMessage(message),
    times: (known?.times ?? 0) + 1,
    firstAt: known?.firstAt ?? at,
  };
  state.found = [...state.found.filter((one) => one !== known), { ...found, lastAt: at }].slice(-MOST_NOTED);
}

/** What was found has turned out to be nothing. */
function clearFound(state: CalibrationState, code: string | RegExp): void {
  const isMeant = (one: string): boolean => (typeof code === 'string' ? one === code : code.test(one));
  state.found = state.found.filter((one) => !isMeant(one.code));
  state.evidence = Object.fromEntries(Object.entries(state.evidence).filter(([one]) => !isMeant(one)));
}

/** Nothing is sent any more under this profile. The first reason stands. */
export function stopCalibration(state: CalibrationState, { code, message }: Reason, at: number): void {
  if (state.stop !== null || state.trusted) return;
  const next =
    'Correct the file named by SERVICE_PROFILE and start Lote again: it then repeats what was sent, under the same keys.';
  const stop = {
    code,
    message: `${message} ${next} If the profile is right all the same, use \`lote confirm-service --profile\`.`,
  };
  state.stop = stop;
  noteFound(state, stop, at);
}

/** A slice that was given a place sends its invoice before this, or never; a later slice asks for the place again. */
const PLACE_UNUSED_MS = 120_000;
const REFUSED: ReadonlySet<InvoiceState | undefined> = new Set(['rejected', 'failed', 'held'] as const);

/**
 * Takes places for unsent invoices; returns those that may go out. An invoice that was not sent leaves its place to another one. Where the service has refused or
 * failed all that are out, so that none of them can be issued any more, the next ones go.
 */
export function takePlaces(
  state: CalibrationState,
  { wanted, known, at }: { wanted: readonly CalibrationPlace[]; known: readonly CalibrationInvoice[]; at: number },
): readonly CalibrationPlace[] {
  if (state.stop !== null) return [];
  const states = new Map(known.map((invoice) => [keyOf(invoice), invoice.state]));
  const stateOf = (place: CalibrationPlace): InvoiceState | undefined => states.get(keyOf(place));
  const isHopeless = state.out.every((place) => REFUSED.has(stateOf(place)));
  const asked = new Set(wanted.map(keyOf));
  const kept = state.out.flatMap((place) => {
    if (asked.has(keyOf(place))) return [{ ...place, at }];
    const now = stateOf(place);
    const isUnsent = now === 'staged' || now === undefined;
    const isUnused = isUnsent && Math.abs(at - place.at) > PLACE_UNUSED_MS;
    return isHopeless || now === 'held' || isUnused ? [] : [place];
  });
  const keys = new Set(kept.map(keyOf));
  const room = Math.max(0, CALIBRATION_INVOICES - kept.length);
  const fresh = wanted.filter((place) => !keys.has(keyOf(place))).slice(0, room);
  state.out = [...kept, ...fresh.map((place) => ({ ...place, at }))];
  if (fresh.length > 0) state.began ??= at;
  for (const place of fresh) keys.add(keyOf(place));
  return wanted.filter((place) => keys.has(keyOf(place)));
}

function keyOf({ batchId, ordinal }: CalibrationPlace): string {
  return `${batchId} ${ordinal}`;
}

/** Codes of answers that came whole, and in which the profile finds no success and no error; with the settings that say so. */
const MISREAD: Readonly<Record<string, string>> = {
  'answer-without-id':
    'invoice.id, or answers.success and answers.status where an error comes with a status of success',
  'answer-id-unusable': 'invoice.id and invoice.idPrefix',
  'answer-not-a-success': 'answers.success',
  'answer-contradictory': 'invoice.id, answers.rules and answers.status',
};

/** Whether a POST got an answer that the profile should read and does not. */
export function isMisread(answer: CreateAnswer): answer is Extract<CreateAnswer, { kind: 'lost' }> {
  if (answer.kind !== 'lost') return false;
  return answer.unreadError === true || answer.byRule === true || answer.reason.code in MISREAD;
}

/** Learns from an answer to a POST. */
export function observePost(
  state: CalibrationState,
  { answer, key, at }: { readonly answer: CreateAnswer; readonly key: string; readonly at: number },
): void {
  if (!isMisread(answer)) {
    if (answer.kind !== 'created' && answer.kind !== 'refused' && answer.kind !== 'key-mismatch') return;
    for (const code of [ANSWERS, REFUSALS]) forget(state, code, key);
    // The place of the errors is proved.
    if (answer.kind !== 'created') clearFound(state, REFUSALS);
    else if (typeof answer.word === 'string') state.begins = added(state.begins, answer.word);
    return;
  }
  const code = answer.unreadError === true ? REFUSALS : ANSWERS;
  const keys = noted(state, code, key);
  const invoices = new Set(keys).size;
  const settings = settingsOf(answer);
  const what = answer.unreadError === true ? 'refusals' : 'answers to POST';
  const message = `The service profile cannot read the ${what} of the service: ${invoices} invoices got one (the last: ${answer.reason.message}). Look at ${settings}.`;
  const ofThis = keys.filter((one) => one === key).length;
  if (invoices < MOST_MISREAD.invoices && ofThis < MOST_MISREAD.answersOfOne) noteFound(state, { code, message }, at);
  else stopCalibration(state, { code: ANSWERS, message }, at);
}

function settingsOf({ unreadError, byRule, reason }: Extract<CreateAnswer, { kind: 'lost' }>): string {
  if (unreadError === true) return 'error.code and error.message';
  return byRule === true ? 'answers.rules' : (MISREAD[reason.code] ?? '');
}

/** Learns from a GET. Returns whether a final word of it counts. */
export function observeStatus(state: CalibrationState, asked: AskedStatus, rules: CalibrationRules): boolean {
  const { answer, reported } = asked;
  if (state.trusted) return true;
  if (reported !== null) state.hasEvents = true;
  if (answer.status === 'unreadable') return noteUnreadable(state, asked);
  clearFound(state, STATUS);
  const word = answer.seen?.word ?? null;
  if (word === null) return true;
  if (answer.status === 'processing') {
    noteUnknownWord(state, { ...asked, word });
    return false;
  }
  const believed = judgeFinal(state, { ...asked, word, status: answer.status }, rules);
  return believed && state.stop?.code !== PROFILE_CONTRADICTION;
}

/** Opens the gate as soon as nothing is missing, also because no event comes. `known`: what became of the invoices that are out. */
export function openIfProved(
  state: CalibrationState,
  { known, at }: { readonly known: readonly CalibrationInvoice[]; readonly at: number },
  rules: CalibrationRules,
): void {
  const { opened, stop, began, proved, found, hasEvents } = state;
  if (opened !== null || stop !== null) return;
  // An invoice that a slice has put back is still to be answered, and so is one whose place was taken after `known` was read.
  const answered = new Set(known.filter(isAnswered).map(keyOf));
  if (!state.out.every((place) => answered.has(keyOf(place)))) return;
  if (!rules.issued.some((word) => proved.includes(`answer ${word}`))) return;
  const hasNoEvents =
    !hasEvents && !found.some(({ code }) => DELIVERIES.test(code)) && at - (began ?? at) >= rules.noEventsMs;
  const isEvent = proved.some((name) => name.startsWith('event '));
  if (rules.expectsEvents && !isEvent && !hasNoEvents) return;
  if (found.some(({ code }) => BLOCKING.has(code))) return;
  Object.assign(state, { opened: at, out: [], found: [], evidence: {} });
}

function isAnswered({ state, attempts }: CalibrationInvoice): boolean {
  return attempts > 0 || (state !== 'staged' && state !== 'sending');
}

interface FinalWord extends AskedStatus {
  readonly word: string;
  readonly status: 'issued' | 'failed';
}

function judgeFinal(state: CalibrationState, asked: FinalWord, rules: CalibrationRules): boolean {
  const { serviceId, word, status, reported, at } = asked;
  const name = `answer ${word}`;
  const isProved = state.proved.includes(name);
  const event = eventOf(reported);
  const isEventProved = event === null || state.proved.includes(event);
  if (reported !== null && reported.verdict !== status && !(isProved && isEventProved)) {
    noteContradiction(state, serviceId, at);
    return false;
  }
  if (!isProved && !agrees(state, asked, rules)) return false;
  if (!isProved) {
    state.proved = added(state.proved, name);
    state.looks = state.looks.filter((look) => look.word !== word);
    for (const code of [WORDS, BARE]) clearFound(state, code);
  }
  if (event !== null && !isEventProved) {
    state.proved = added(state.proved, event);
    clearFound(state, DELIVERIES);
    delete state.evidence[PROFILE_CONTRADICTION];
  }
  return true;
}

function eventOf(reported: AskedStatus['reported']): string | null {
  if (reported === null) return null;
  return reported.verdict === 'failed' ? 'failed event' : `event ${reported.type ?? ''}`;
}

/** Whether this look proves a final word that is not proved yet. */
function agrees(state: CalibrationState, asked: FinalWord, rules: CalibrationRules): boolean {
  const { serviceId, word, status, reported, at, answer } = asked;
  const why = answer.seen?.why ?? null;
  const isIssuedKnown = rules.issued.some((one) => state.proved.includes(`answer ${one}`));
  if (status === 'issued' && why === 'code') {
    const message = `An invoice that invoice.issued calls issued by the word ${shownWord(word)} has a reason of a failure at invoice.reasonCode: the words for issued and failed are swapped (invoice.issued, invoice.failed, event.issued, event.failed).`;
    stopCalibration(state, { code: PROFILE_CONTRADICTION, message }, at);
    return false;
  }
  if (status === 'failed' && why === null && reported?.hasReason !== true && !isIssuedKnown) {
    noteBare(state, serviceId, at);
    return false;
  }
  noteEarly(state, asked, rules);
  const isEarly = state.begins.includes(word);
  const first = state.looks.find((look) => look.serviceId === serviceId && look.word === word);
  if (first === undefined) state.looks = [...state.looks, { word, serviceId, at }].slice(-MOST_NOTED);
  const sinceFirst = first === undefined ? 0 : at - first.at;
  if (reported !== null) return !isEarly || sinceFirst >= EVENT_LAG_MS;
  const beganOtherwise = state.begins.some((one) => !rules.issued.includes(one) && !rules.failed.includes(one));
  if (!rules.expectsEvents && beganOtherwise && !isEarly) return true;
  if (state.hasEvents && state.opened === null) return false;
  return sinceFirst >= (isEarly ? rules.earlyLookMs : rules.secondLookMs);
}

/** A GET may lag behind an event for so long, and say once more what the answer to the POST said. */
const EVENT_LAG_MS = 2_000;

function noteUnreadable(state: CalibrationState, { answer, at }: AskedStatus): boolean {
  if (state.opened !== null) return false;
  const said = answer.seen === undefined ? (answer.reason?.code ?? '') : answer.reason?.message;
  const place = answer.seen === undefined ? 'requests.getInvoice.path and invoice.id' : 'invoice.status';
  const message = `The answer to the GET of an invoice says nothing of it (${said}), so no status can be read. Look at ${place}, and at requests.getInvoice.carriesId.`;
  noteFound(state, { code: STATUS, message }, at);
  return false;
}

/** An event has called several invoices final, or their first word has changed, and the profile knows the word for neither. */
function noteUnknownWord(
  state: CalibrationState,
  { serviceId, word, answer, reported, at }: AskedStatus & { readonly word: string },
): void {
  if (state.opened !== null || (reported === null && (state.begins.length === 0 || state.begins.includes(word))))
    return;
  noted(state, WORDS, serviceId);
  const why = reported === null ? 'no GET has said issued or failed' : `an event says ${reported.verdict}`;
  const message = `At ${answer.seen?.place ?? ''} (invoice.status) stands ${shownWord(word)}, which is in neither invoice.issued nor invoice.failed, and ${why}. Add each word that is final to one of them.`;
  noteFound(state, { code: WORDS, message }, at);
}

function noteContradiction(state: CalibrationState, serviceId: string, at: number): void {
  const invoices = new Set(noted(state, PROFILE_CONTRADICTION, serviceId)).size;
  if (invoices < CONTRADICTIONS) return;
  const message = `Of ${invoices} invoices, events of the service say the opposite of its answers (issued and failed): event.issued, event.failed, invoice.issued and invoice.failed swap two words, or one of them is not final. Look at these invoices at the service.`;
  stopCalibration(state, { code: PROFILE_CONTRADICTION, message }, at);
}

function noteBare(state: CalibrationState, serviceId: string, at: number): void {
  const invoices = new Set(noted(state, BARE, serviceId)).size;
  const message = `Nothing stands at invoice.reasonCode and invoice.reasonMessage of ${invoices} invoices that invoice.failed calls failed, and none is issued: these places are wrong, or the words for issued and failed are swapped. Look at such an invoice at the service.`;
  if (invoices < MOST_BARE) noteFound(state, { code: BARE, message }, at);
  else stopCalibration(state, { code: PROFILE_CONTRADICTION, message }, at);
}

/** The same verdict by another word than in the answer to the POST, or another verdict than before: the first word was no end. */
function noteEarly(state: CalibrationState, { serviceId, word, status, at }: FinalWord, rules: CalibrationRules): void {
  const words = status === 'issued' ? rules.issued : rules.failed;
  const before = state.looks.find((look) => look.serviceId === serviceId && look.word !== word);
  const early = before?.word ?? state.begins.find((one) => one !== word && words.includes(one));
  if (early === undefined) return;
  const list = rules.issued.includes(early) ? 'invoice.issued' : 'invoice.failed';
  const message = `The service says first ${shownWord(early)}, which ${list} lists, and later ${shownWord(word)}: the first word is not final. Remove it from ${list}, or confirm the profile if both are final (\`lote confirm-service --profile\`).`;
  noteFound(state, { code: EARLY, message }, at);
}

function noted(state: CalibrationState, code: string, subject: string): readonly string[] {
  const subjects = [...(state.evidence[code] ?? []), subject].slice(-MOST_NOTED);
  state.evidence = { ...state.evidence, [code]: subjects };
  return subjects;
}

function forget(state: CalibrationState, code: string, subject: string): void {
  const subjects = state.evidence[code]?.filter((one) => one !== subject);
  if (subjects === undefined) return;
  if (subjects.length === 0) clearFound(state, code);
  else state.evidence = { ...state.evidence, [code]: subjects };
}

function added(list: readonly string[], one: string): string[] {
  return list.includes(one) ? [...list] : [...list, one].slice(-MOST_NOTED);
}
