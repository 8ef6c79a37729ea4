import type { InvoiceState } from './invoice-state.ts';
import type { Reason } from './invoice.ts';
import { misfitMessage, shownWord, type ProfileMisfit } from './profile-misfit.ts';
import type { CreateAnswer, StatusAnswer } from './records/service-answers.ts';

/** The number of invoices that may be out before the service profile is proved to fit the service. */
export const CALIBRATION_INVOICES = 20;

/** The profile or a proxy contradicts the service: no word counts and nothing is sent until the profile is corrected or confirmed. */
export const PROFILE_CONTRADICTION = 'profile-contradiction';

/** The service answered several invoices with the same id, so nothing is sent. */
export const SERVICE_IDS_REPEATED = 'service-ids-repeated';

/** Two contradicting invoices stop sending; a single one may be a mistake of the service. */
const CONTRADICTIONS = 2;
/** Limit of failed invoices without a reason while no word for issued is proved. */
const MOST_BARE = 3;
/** Limits of unreadable answers: the number of invoices with such an answer, and the number of such answers to one invoice. */
const MOST_MISREAD = { invoices: 5, answersOfOne: 3 };
const MOST_NOTED = 20;

/** What a batch waits for while the gate is closed and nothing was found. */
export const FIRST_INVOICES_OUT = 'first-invoices';
/** The same if something was found; also the reason of invoices that are not sent in the end. */
export const PROFILE_UNPROVED = 'profile-unproved';

const ANSWERS = 'answers-unreadable';
const REFUSALS = 'refusals-unreadable';
const STATUS = 'invoice-status-unreadable';
const WORDS = 'invoice-status-unknown';
const EARLY = 'issued-word-early';
const BARE = 'failed-without-reason';
/** Codes of the reasons that stop sending under a profile. */
export const CALIBRATION_STOPS: readonly string[] = [ANSWERS, PROFILE_CONTRADICTION, SERVICE_IDS_REPEATED];
const DELIVERIES = /^(?:deliveries|events)-/;
/** Findings about deliveries count under a proved profile too, because a secret or an address may change at any time. */
const LASTING = /^deliveries-/;
/** These findings keep the gate closed even if an invoice was issued. */
const BLOCKING = new Set([ANSWERS, REFUSALS, EARLY]);

/** An invoice that may be sent before the gate is open. */
export interface CalibrationPlace {
  readonly batchId: string;
  readonly ordinal: number;
}

/** The facts of the ledger about an invoice that may be sent. */
export interface CalibrationInvoice extends CalibrationPlace {
  readonly invoiceId: number;
  readonly state: InvoiceState;
  /** Number of recorded POSTs. */
  readonly attempts: number;
  readonly serviceId: string | null;
  /** The stored event that says `failed`; null if there is none. */
  readonly failedEvent: { readonly reason: Reason | null } | null;
}

/**
 * State of the calibration of one service profile at one account. The gate is closed until an `issued` event and an
 * `issued` GET of one invoice agree. Each other final word is proved in the same way when it first appears.
 */
export interface CalibrationState {
  /** When the gate opened; null while it is closed. All times are epoch milliseconds. */
  opened: number | null;
  /** An operator has confirmed the profile, so every word counts. */
  trusted: boolean;
  /** The reason that stops sending under this profile, or null. */
  stop: Reason | null;
  began: number | null;
  out: (CalibrationPlace & { readonly at: number })[];
  /** Status words in answers to POSTs. */
  begins: string[];
  /** Names of what was seen to agree: `answer WORD`, `event TYPE`, and `failed event`. */
  proved: string[];
  /** The first GET of each final word that is not proved yet. */
  looks: { word: string; serviceId: string; at: number }[];
  /** True if an event has said something final about an invoice. */
  hasEvents: boolean;
  /** The evidence for each finding: keys or service ids by code. */
  evidence: Record<string, string[]>;
  found: ProfileMisfit[];
}

/** The final words of the profile in small letters, and how long Lote waits for a proof, in milliseconds. */
export interface CalibrationRules {
  readonly issued: readonly string[];
  readonly failed: readonly string[];
  /** The service has an address to which it sends events. */
  readonly expectsEvents: boolean;
  /** If no delivery arrives in this time after the first POST, GETs alone open the gate. */
  readonly noEventsMs: number;
  /** The time between two GETs of an invoice after which the second GET is a proof. */
  readonly secondLookMs: number;
  /** The same for a word that also appears in answers to POSTs. */
  readonly earlyLookMs: number;
}

/** An answer to the GET of an invoice. */
export interface AskedStatus {
  readonly serviceId: string;
  readonly answer: Extract<StatusAnswer, { kind: 'status' }>;
  /** The stored event about the invoice; `type` is the type of an `issued` event. */
  readonly reported: {
    readonly verdict: 'issued' | 'failed';
    readonly type?: string;
    readonly hasReason?: boolean;
  } | null;
  readonly at: number;
}

/** Returns the state before the first invoice. */
export function blankCalibration(): CalibrationState {
  return {
    ...{ opened: null, trusted: false, stop: null, began: null, hasEvents: false },
    ...{ out: [], begins: [], proved: [], looks: [], evidence: {}, found: [] },
  };
}

/** True if all invoices may be sent. */
export function isOpen({ opened, trusted, stop }: CalibrationState): boolean {
  return trusted || (opened !== null && stop === null);
}

/** Returns the findings that contradict the profile, with the reason that stops sending first. */
export function misfitsOf({ stop, found, trusted }: CalibrationState): readonly ProfileMisfit[] {
  if (trusted) return found.filter(({ code }) => LASTING.test(code));
  const isStop = ({ code }: ProfileMisfit): boolean => code === stop?.code;
  return [...found.filter(isStop), ...found.filter((one) => !isStop(one))];
}

/** Adds the finding of a process, or removes it if `message` is null. */
export function takeFinding(
  state: CalibrationState,
  { code, message }: { readonly code: string; readonly message: string | null },
  at: number,
): void {
  if (isOpen(state) && !LASTING.test(code)) return;
  if (message === null) clearFound(state, code);
  else noteFound(state, { code, message }, at);
}

/** Adds a finding; a later message replaces the earlier one. */
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

/** Removes a finding that has proved to be wrong, with its evidence. */
function clearFound(state: CalibrationState, code: string | RegExp): void {
  const isMeant = (one: string): boolean => (typeof code === 'string' ? one === code : code.test(one));
  state.found = state.found.filter((one) => !isMeant(one.code));
  state.evidence = Object.fromEntries(Object.entries(state.evidence).filter(([one]) => !isMeant(one)));
}

/** Stops sending under this profile. The first reason stays. */
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

/** A slice sends the invoice of its place within this time or not at all; a later slice asks for the place again. */
const PLACE_UNUSED_MS = 120_000;
const REFUSED: ReadonlySet<InvoiceState | undefined> = new Set(['rejected', 'failed', 'held'] as const);

/**
 * Takes places for unsent invoices and returns those that may be sent. An invoice that was not sent leaves its place to
 * another. If the service has refused or failed all that are out, none of them can be issued, so the next ones go.
 */
export function takePlaces(
  state: CalibrationState,
  { wanted, known, at }: { wanted: readonly CalibrationPlace[]; known: readonly CalibrationInvoice[]; at: number },
): readonly CalibrationPlace[] {
  if (state.stop !== null) return [];
  const states = new Map(known.map((invoice) => [keyOf(invoice), invoice.state]));
  const isHopeless = state.out.every((place) => REFUSED.has(states.get(keyOf(place))));
  const asked = new Set(wanted.map(keyOf));
  const kept = state.out.flatMap((place) => {
    if (asked.has(keyOf(place))) return [{ ...place, at }];
    const now = states.get(keyOf(place));
    const isUnused = (now === 'staged' || now === undefined) && Math.abs(at - place.at) > PLACE_UNUSED_MS;
    return isHopeless || now === 'held' || isUnused ? [] : [place];
  });
  const keptKeys = new Set(kept.map(keyOf));
  const room = Math.max(0, CALIBRATION_INVOICES - kept.length);
  const fresh = wanted.filter((place) => !keptKeys.has(keyOf(place))).slice(0, room);
  state.out = [...kept, ...fresh.map((place) => ({ ...place, at }))];
  if (fresh.length > 0) state.began ??= at;
  const keys = new Set(state.out.map(keyOf));
  return wanted.filter((place) => keys.has(keyOf(place)));
}

function keyOf({ batchId, ordinal }: CalibrationPlace): string {
  return `${batchId} ${ordinal}`;
}

/** Codes of complete answers in which the profile finds neither a success nor an error, with the settings to check. */
const MISREAD: Readonly<Record<string, string>> = {
  'answer-without-id':
    'invoice.id, or answers.success and answers.status where an error comes with a status of success',
  'answer-id-unusable': 'invoice.id and invoice.idPrefix',
  'answer-not-a-success': 'answers.success',
  'answer-contradictory': 'invoice.id, answers.rules and answers.status',
};

/** True if the profile should be able to read the answer to a POST but cannot. */
export function isMisread(answer: CreateAnswer): answer is Extract<CreateAnswer, { kind: 'lost' }> {
  if (answer.kind !== 'lost') return false;
  return answer.unreadError === true || answer.byRule === true || answer.reason.code in MISREAD;
}

/** Updates the calibration with an answer to a POST. */
export function observePost(
  state: CalibrationState,
  { answer, key, at }: { readonly answer: CreateAnswer; readonly key: string; readonly at: number },
): void {
  if (!isMisread(answer)) {
    if (answer.kind !== 'created' && answer.kind !== 'refused' && answer.kind !== 'key-mismatch') return;
    for (const code of [ANSWERS, REFUSALS]) forget(state, code, key);
    // A readable refusal proves the place of the errors.
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

/** Updates the calibration with a GET. Returns true if a final word in it counts. */
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

/** Opens the gate as soon as no proof is missing, also when no event comes. `known` are the invoices that are out. */
export function openIfProved(
  state: CalibrationState,
  { known, at }: { readonly known: readonly CalibrationInvoice[]; readonly at: number },
  rules: CalibrationRules,
): void {
  const { opened, stop, began, proved, found, hasEvents } = state;
  if (opened !== null || stop !== null) return;
  // An unfrozen invoice still needs an answer, and so does one whose place was taken after `known` was read.
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

/** True if this GET proves a final word that is not proved yet. */
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

/** For this long, a GET may lag behind an event and repeat the word of the answer to the POST. */
const EVENT_LAG_MS = 2_000;

function noteUnreadable(state: CalibrationState, { answer, at }: AskedStatus): boolean {
  if (state.opened !== null) return false;
  const said = answer.seen === undefined ? (answer.reason?.code ?? '') : answer.reason?.message;
  const place = answer.seen === undefined ? 'requests.getInvoice.path and invoice.id' : 'invoice.status';
  const message = `The answer to the GET of an invoice says nothing of it (${said}), so no status can be read. Look at ${place}, and at requests.getInvoice.carriesId.`;
  noteFound(state, { code: STATUS, message }, at);
  return false;
}

/** Notes a status word that the profile does not know although an event calls the invoice final or the first word has changed. */
function noteUnknownWord(
  state: CalibrationState,
  { word, answer, reported, at }: AskedStatus & { readonly word: string },
): void {
  if (state.opened !== null || (reported === null && (state.begins.length === 0 || state.begins.includes(word))))
    return;
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

/** Notes that the first word of an invoice was not final: the service later gave another word or another verdict. */
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
