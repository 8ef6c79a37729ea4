/** Note of a schedule that Lote has paused because nobody describes its application. */
export const NO_FILE = 'Paused by Lote: no file in applications/ describes the application that it is for';

/** Note of a schedule that Lote has paused because its task queue works for an application of another name now. */
export const OTHER_APPLICATION = 'Paused by Lote: its task queue works for another application now';

/** Note of a schedule that Lote has let go on after that. */
export const GOES_ON = 'Its application is described.';

/** Note of each schedule of reconciliation. */
export const RECONCILES =
  'Repeats unknown invoices, polls pending ones, rewrites the reports that late answers changed.';

/** Whether nobody but Lote has written to it: an operator who pauses a schedule leaves another note. */
export function isNoteOfLote(note: string | null | undefined): boolean {
  return note === RECONCILES || note === GOES_ON || isPausedByLote(note);
}

/** Whether Lote paused it, and lets it go on by itself when its application is back. */
export function isPausedByLote(note: string | null | undefined): boolean {
  return [NO_FILE, OTHER_APPLICATION].some((begin) => note?.startsWith(begin) === true);
}
