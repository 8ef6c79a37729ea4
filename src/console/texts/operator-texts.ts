import type { WaitingReason } from '../../domain/ports/drop-folder.ts';
import type { MessageChannel, NightlyVerdict, NightMessageNote } from '../../domain/ports/run-log.ts';
import type { TotalCheck } from '../../domain/ports/total-ledger.ts';
import type { RetryMove, RetryRefusal } from '../../domain/retry-decision.ts';
import type { Role } from '../people/caller.ts';
import type { Plural } from './plural.ts';

/** What an operator reads who sends again, asks the service, looks at what was done by hand, or at a night. */
export interface OperatorTexts {
  readonly retry: {
    readonly title: string;
    readonly note: string;
    readonly repeatNote: string;
    readonly states: string;
    readonly button: string;
    readonly risk: string;
    readonly riskNote: string;
    readonly started: string;
    readonly joined: string;
    readonly moved: Plural;
    readonly left: Plural;
    readonly refusals: Readonly<Record<RetryRefusal, string>>;
  };
  readonly reconcile: {
    readonly title: string;
    readonly note: string;
    readonly button: string;
    readonly started: string;
    readonly asked: string;
    readonly repeated: string;
    readonly away: string;
  };
  readonly audit: {
    readonly title: string;
    readonly none: string;
    readonly note: string;
    readonly who: string;
    readonly why: string;
    readonly examples: string;
    readonly download: string;
    readonly risk: string;
    readonly somebody: string;
    readonly moves: Readonly<Record<RetryMove, string>>;
    /** Of the batch as a whole; a word that is not here is shown as it is. */
    readonly actions: Readonly<Record<string, string>>;
  };
  readonly nights: {
    readonly title: string;
    readonly none: string;
    /** Of several applications, none is chosen. */
    readonly choose: string;
    readonly night: string;
    readonly files: string;
    readonly outcome: string;
    readonly issued: string;
    readonly lies: string;
    readonly know: string;
    readonly run: string;
    readonly unfinished: string;
    readonly waitingFiles: string;
    readonly unreadable: string;
    readonly repeated: string;
    readonly notOut: Plural;
    readonly nothingSent: string;
    readonly note: string;
    readonly held: string;
    readonly allOut: Plural;
    readonly empty: string;
    readonly open: Plural;
    readonly verdicts: Readonly<Record<NightlyVerdict, string>>;
    readonly waiting: Readonly<Record<WaitingReason, string>>;
  };
  /** A batch whose total is unlike those of earlier files. */
  readonly total: {
    readonly state: string;
    readonly title: string;
    readonly sentence: string;
    readonly note: string;
    readonly found: string;
    readonly usual: string;
    readonly number: string;
    readonly button: string;
    readonly done: string;
    readonly compared: Readonly<
      Record<'title' | 'usual' | 'tooFew' | 'confirmed' | Exclude<TotalCheck['kind'], 'too-few' | 'unusual'>, string>
    >;
  };
  /** The message that a night sends, and what became of it. */
  readonly morning: {
    readonly subject: string;
    readonly wentOut: Plural;
    readonly needs: string;
    readonly more: string;
    readonly page: string;
    readonly toDo: Readonly<Record<Exclude<NightlyVerdict, 'issued'>, string>>;
    readonly channels: Readonly<Record<MessageChannel, string>>;
    readonly states: Readonly<Record<NightMessageNote['state'], string>>;
  };
  /** Of people whom a proxy signs in. */
  readonly people: {
    readonly signedInAs: string;
    readonly roles: Readonly<Record<Role, string>>;
    readonly roleMissing: string;
    readonly roleMissingNote: string;
  };
  /** Why this console can only show. */
  readonly withoutTemporal: string;
}
