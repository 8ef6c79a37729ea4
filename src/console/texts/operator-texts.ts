import type { TotalCheck } from '../../domain/ports/ledger/total-ledger.ts';
import type { RetryMove, RetryRefusal } from '../../domain/retry-decision.ts';
import type { Role } from '../people/caller.ts';
import type { Plural } from '../../texts/plural.ts';

/** What an operator reads who sends again, asks the service, or looks at what was done by hand. */
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
    readonly closed: string;
    readonly unanswered: string;
    readonly profileFoundWrong: string;
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
