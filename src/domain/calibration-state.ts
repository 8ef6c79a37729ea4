import type { InvoiceState } from './invoice-state.ts';
import type { Reason } from './invoice.ts';
import { misfitMessage, type ProfileMisfit } from './profile-misfit.ts';

/** The number of invoices that may be out before the service profile is proved to fit the service. */
export const CALIBRATION_INVOICES = 20;

/** The profile or a proxy contradicts the service: no word counts and nothing is sent until the profile is corrected or confirmed. */
export const PROFILE_CONTRADICTION = 'profile-contradiction';

/** The service answered several invoices with the same id, so nothing is sent. */
export const SERVICE_IDS_REPEATED = 'service-ids-repeated';

/** Limit of findings, and of the evidence for one. */
export const MOST_NOTED = 20;

/** What a batch waits for while the gate is closed and nothing was found. */
export const FIRST_INVOICES_OUT = 'first-invoices';
/** The same if something was found; also the reason of invoices that are not sent in the end. */
export const PROFILE_UNPROVED = 'profile-unproved';

/** Answers to POSTs that the profile cannot read. */
export const ANSWERS = 'answers-unreadable';
/** Codes of the reasons that stop sending under a profile. */
export const CALIBRATION_STOPS: readonly string[] = [ANSWERS, PROFILE_CONTRADICTION, SERVICE_IDS_REPEATED];
/** Findings about deliveries count under a proved profile too, because a secret or an address may change at any time. */
const LASTING = /^deliveries-/;

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
export function clearFound(state: CalibrationState, code: string | RegExp): void {
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
 * another. If the service has refused or failed all that are out, none of them can be issued, so further ones are sent.
 */
export function takePlaces(
  state: CalibrationState,
  { wanted, known, at }: { wanted: readonly CalibrationPlace[]; known: readonly CalibrationInvoice[]; at: number },
): readonly CalibrationPlace[] {
  if (state.stop !== null) return [];
  const states = new Map(known.map((invoice) => [placeKey(invoice), invoice.state]));
  const isHopeless = state.out.every((place) => REFUSED.has(states.get(placeKey(place))));
  const asked = new Set(wanted.map(placeKey));
  const kept = state.out.flatMap((place) => {
    if (asked.has(placeKey(place))) return [{ ...place, at }];
    const now = states.get(placeKey(place));
    const isUnused = (now === 'staged' || now === undefined) && Math.abs(at - place.at) > PLACE_UNUSED_MS;
    return isHopeless || now === 'held' || isUnused ? [] : [place];
  });
  const keptKeys = new Set(kept.map(placeKey));
  const room = Math.max(0, CALIBRATION_INVOICES - kept.length);
  const fresh = wanted.filter((place) => !keptKeys.has(placeKey(place))).slice(0, room);
  state.out = [...kept, ...fresh.map((place) => ({ ...place, at }))];
  if (fresh.length > 0) state.began ??= at;
  const keys = new Set(state.out.map(placeKey));
  return wanted.filter((place) => keys.has(placeKey(place)));
}

/** Returns a key for a map of places. */
export function placeKey({ batchId, ordinal }: CalibrationPlace): string {
  return `${batchId} ${ordinal}`;
}

/** Adds an invoice or a key to the evidence for a finding, and returns all of it. */
export function noted(state: CalibrationState, code: string, subject: string): readonly string[] {
  const subjects = [...(state.evidence[code] ?? []), subject].slice(-MOST_NOTED);
  state.evidence = { ...state.evidence, [code]: subjects };
  return subjects;
}

/** Removes an invoice or a key from the evidence for a finding. Removes a finding that has no evidence left. */
export function forget(state: CalibrationState, code: string, subject: string): void {
  const subjects = state.evidence[code]?.filter((one) => one !== subject);
  if (subjects === undefined) return;
  if (subjects.length === 0) clearFound(state, code);
  else state.evidence = { ...state.evidence, [code]: subjects };
}

/** Adds one text to a list unless it is there; the list stays short. */
export function added(list: readonly string[], one: string): string[] {
  return list.includes(one) ? [...list] : [...list, one].slice(-MOST_NOTED);
}
