import type { Ledger } from '../../src/domain/ports/ledger/ledger.ts';

/** Where findings go. */
export interface MisfitNotesDeps {
  readonly ledger: Pick<Ledger, 'noteMisfits' | 'clearMisfit'>;
  readonly profileDigest: string;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  readonly now: () => number;
}

/** Findings of this process about the service profile. Neither method waits for the ledger, and neither throws. */
export interface MisfitNotes {
  note(code: string, message: string): void;
  /** What spoke for the finding has turned out to be nothing, also where an earlier process noted it. */
  clear(code: string): void;
}

/** The first finding of a code is written at once, later ones together after this. */
const TOGETHER_MS = 5_000;

/** Makes the notes of one process. */
export function createMisfitNotes({ ledger, profileDigest, log, now }: MisfitNotesDeps): MisfitNotes {
  const noted = new Map<string, { readonly message: string; times: number; writtenAt: number }>();
  const cleared = new Set<string>();
  let written: Promise<unknown> = Promise.resolve();

  /** In the order of the calls: a finding must not outlive its own end. */
  function write(work: () => Promise<void>): void {
    written = written.then(work).catch((error: unknown) => {
      log.warn('a finding about the service profile could not be written', { err: error });
    });
  }

  return {
    note(code, message) {
      cleared.delete(code);
      const at = now();
      const before = noted.get(code);
      const times = (before?.times ?? 0) + 1;
      if (before !== undefined && at - before.writtenAt < TOGETHER_MS) {
        before.times = times;
        return;
      }
      noted.set(code, { message, times: 0, writtenAt: at });
      write(() => ledger.noteMisfits(profileDigest, [{ code, message, times, at }]));
    },
    clear(code) {
      if (cleared.has(code)) return;
      cleared.add(code);
      noted.delete(code);
      write(() => ledger.clearMisfit(profileDigest, code));
    },
  };
}
