import {
  added,
  ANSWERS,
  clearFound,
  forget,
  MOST_NOTED,
  noted,
  noteFound,
  PROFILE_CONTRADICTION,
  placeKey,
  stopCalibration,
  type CalibrationInvoice,
  type CalibrationState,
} from './calibration-state.ts';
import { shownWord } from './profile-misfit.ts';
import type { CreateAnswer, StatusAnswer } from './records/service-answers.ts';

/** Two contradicting invoices stop sending; a single one may be a mistake of the service. */
const CONTRADICTIONS = 2;
/** Limit of failed invoices without a reason while no word for issued is proved. */
const MOST_BARE = 3;
/** Limits of unreadable answers: the number of invoices with such an answer, and the number of such answers to one invoice. */
const MOST_MISREAD = { invoices: 5, answersOfOne: 3 };

const REFUSALS = 'refusals-unreadable';
const EARLY = 'issued-word-early';
const STATUS = 'invoice-status-unreadable';
const WORDS = 'invoice-status-unknown';
const BARE = 'failed-without-reason';
const DELIVERIES = /^(?:deliveries|events)-/;
/** These findings keep the gate closed even if an invoice was issued. */
const BLOCKING = new Set([ANSWERS, REFUSALS, EARLY]);

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
  const answered = new Set(known.filter(isAnswered).map(placeKey));
  if (!state.out.every((place) => answered.has(placeKey(place)))) return;
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
