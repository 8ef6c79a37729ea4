/** A folder with more entries than this is hard to scan. */
export const MOST_ENTRIES = 24;

/** Lines of one function, without blank lines and comments. `function-length.json` gives the same number to the linter. */
export const LONGEST_FUNCTION = 60;

/** The folders of the product. */
export const PRODUCT: readonly string[] = ['src', 'workflows', 'activities'];

/** Folders whose number of entries is limited, with everything below them. */
export const SORTED: readonly string[] = [...PRODUCT, 'test', 'docs', 'bench'];

/** Data that tests read: files of one kind, found by name. */
export const FIXTURES: readonly string[] = ['test/golden', 'test/releases'];

/**
 * Words of the old vocabulary and what to say instead. A word is found as a part of an identifier or of a file name of
 * the product: `door` in `createDoor`, `askAll` in `askAllNow`. To forbid another word, add a line.
 */
export const OLD_WORDS: Readonly<Record<string, string>> = {
  door: 'CircuitBreaker, access denied',
  doorkeeper: 'CircuitBreaker',
  crew: 'Backend',
  dossier: 'invoiceDetails',
  inertCell: 'escapeFormula',
  interlock: 'account guard',
  leftBatches: 'orphanedBatches',
  atRest: 'settledCount',
  askAll: 'pollStatuses',
  askSilent: 'pollPending',
  askOutOfTurn: 'pollNow',
  whileWatched: 'withMonitoring',
  lookAtBatch: 'refreshSnapshot',
  requireOwnWork: 'assertOwnership',
  nightBook: 'RunLog',
  shelve: 'archive',
  drawFrom: 'takeNext',
  tellSenders: 'notify',
  untold: 'pendingActions',
  voice: 'PageControls',
  keeping: 'workerScope',
  told: 'notified',
  tell: 'notify',
  desk: 'operatorLinks',
  standing: 'BatchSnapshot, reuseReport',
  silent: 'pending',
  exposure: 'deliveryCertainty',
  parked: 'unmatched',
  gate: 'RequestLimiter',
  shut: 'open (circuit breaker), access denied',
};
