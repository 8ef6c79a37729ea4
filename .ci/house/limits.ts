/** A folder with more entries than this is hard to scan. */
export const MOST_ENTRIES = 24;

/** Levels of folders below `src`. */
export const DEEPEST = 2;

/** Lines of one function, without blank lines and comments. `function-length.json` gives the same number to the linter. */
export const LONGEST_FUNCTION = 60;

/** The folders of the product. */
export const PRODUCT: readonly string[] = ['src', 'workflows', 'activities'];

/** Folders whose number of entries is limited, with everything below them. */
export const SORTED: readonly string[] = [...PRODUCT, 'test', 'docs', 'bench'];

/** What a room may hold. */
export interface Budget {
  readonly files: number;
  readonly lines: number;
}

/**
 * What each room may hold. Lower a number when a room has become smaller; a room that must grow takes its lines from another one.
 */
export const BUDGETS: Readonly<Record<string, Budget>> = {
  activities: { files: 32, lines: 4900 },
  'src/app': { files: 61, lines: 7448 },
  'src/cli': { files: 29, lines: 2894 },
  'src/console': { files: 22, lines: 4229 },
  'src/database': { files: 7, lines: 958 },
  'src/domain': { files: 42, lines: 3972 },
  'src/health': { files: 11, lines: 1346 },
  'src/ingest': { files: 40, lines: 6205 },
  'src/ledger': { files: 38, lines: 5952 },
  'src/nightly': { files: 5, lines: 827 },
  'src/platform': { files: 8, lines: 602 },
  'src/report': { files: 17, lines: 2300 },
  'src/sandbox': { files: 13, lines: 1592 },
  'src/service': { files: 23, lines: 3018 },
  'src/texts': { files: 14, lines: 1772 },
  'src/webhooks': { files: 8, lines: 1247 },
  workflows: { files: 19, lines: 2400 },
};

/** Data that tests read: files of one kind, found by name. */
export const FIXTURES: readonly string[] = ['test/golden'];

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
  parked: 'unmatched',
  gate: 'RequestLimiter',
  shut: 'open (circuit breaker), access denied',
};
