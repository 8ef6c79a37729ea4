import type { WaitingReason } from '../../domain/ports/drop-folder.ts';
import type {
  MessageChannel,
  NightlyRemark,
  NightlyRunEntry,
  NightlyVerdict,
  NightMessageNote,
} from '../../domain/ports/run-log.ts';
import type { Plural } from '../plural.ts';

type PluralRemark = 'all-out' | 'missing' | 'rows-without-invoice';

/** The words about nights that the console, the page and the message of a night, and the note beside a file share. */
export interface NightTexts {
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
    /** Why the night did not wait for a file, and what to do. */
    readonly waitsFor: Readonly<Record<NonNullable<NightlyRunEntry['waitsFor']>, string>>;
    /** Nothing needs anybody yet, and its last run has no end. */
    readonly unended: Plural;
    readonly allOut: Plural;
    readonly empty: string;
    readonly open: Plural;
    /** Of a page that nobody writes again after the run. */
    readonly asOf: string;
    readonly asOfEach: string;
    /** The state of the batch, before how many of its invoices went out. */
    readonly now: string;
    readonly verdicts: Readonly<Record<NightlyVerdict, string>>;
    readonly waiting: Readonly<Record<WaitingReason, string>>;
  };
  /** The message that a night sends, and what became of it. */
  readonly morning: {
    readonly subject: string;
    readonly wentOut: Plural;
    /** The same, where an earlier file had issued a part of them (`{before}`). */
    readonly wentOutBefore: Plural;
    readonly needs: string;
    readonly more: string;
    readonly page: string;
    readonly toDo: Readonly<Record<Exclude<NightlyVerdict, 'issued'>, string>>;
    /** For `attention` without a corrections file: no row is for anybody to correct. */
    readonly readReport: string;
    readonly channels: Readonly<Record<MessageChannel, string>>;
    readonly states: Readonly<Record<NightMessageNote['state'], string>>;
  };
  /** What became of a file and what to do next, by the kind of the remark. */
  readonly remarks: Readonly<Record<Exclude<NightlyRemark['kind'], PluralRemark | 'contradicted'>, string>> &
    Readonly<Record<PluralRemark, Plural>> & {
      /** Before `missing`. */
      readonly cancelled: string;
    };
  /** The page of a night that is a file, and the note beside a file. */
  readonly nightFile: {
    readonly title: string;
    readonly counts: string;
    readonly run: string;
    readonly times: string;
    readonly unfinishedTimes: string;
    readonly file: string;
    readonly invoices: string;
    readonly why: string;
    readonly report: string;
    readonly corrections: string;
    readonly inDoubt: string;
    readonly batch: string;
    readonly noBatch: string;
  };
}
