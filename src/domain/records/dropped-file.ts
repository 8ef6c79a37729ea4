/** One run of the nightly issuance: files are claimed in its name. */
export interface NightlyRun {
  /** `<date>-<last 8 of the run's id>`: the name of its folder under `in-progress/`. */
  readonly nightId: string;
  /** Calendar date in the night's own time zone, `2026-11-21`. */
  readonly date: string;
  readonly workflowId: string;
  readonly runId: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** A file that belongs to a nightly run: no other run takes it while this one goes on. */
export interface ClaimedFile {
  /** Its claim folder under the folder of the nightly run; a run uses none twice. */
  readonly slot: string;
  readonly name: string;
  /** Relative to the input directory, with `/`: what a batch is started with. */
  readonly file: string;
  /** In bytes; it and `changedAt` (epoch milliseconds) are as they were before Lote read the file. */
  readonly size: number;
  readonly changedAt: number;
  /** An earlier night had claimed it and was interrupted. */
  readonly resumed: boolean;
}

/** Why a file was not brought to its end. */
export type WaitingReason =
  /** Size or time changed between two checks: it is still being written. */
  | 'growing'
  /** No byte yet: the beginning of an upload looks the same. */
  | 'empty'
  /** Marker mode: its `.done` file is missing or older than it. */
  /** The system refused to move it, e.g. for want of rights. */
  | 'not-movable'
  /** A nightly run of another ledger has claimed it; it lies in the claim folder of that one. */
  | 'other-ledger'
  /** A night takes only so many. */
  | 'too-many'
  /** The night failed at it: it lies in its claim folder, and the next night goes on with it. */
  | 'unfinished'
  /** Its writer went on after a batch had read and archived it: a person drops it again. */
  | 'changed';

/** A dropped file that a nightly run left, in the inbox or in its claim folder, with the reason. */
export interface WaitingFile {
  readonly name: string;
  readonly reason: WaitingReason;
  /** So many more files wait for the same reason, and are not named: a folder may hold any number. Left out: none. */
  readonly more?: number;
}

/** Result of claiming: the files of this nightly run, and the files that stay in the inbox. */
export interface Claims {
  /** Everything that the night holds now, also from an earlier call. */
  readonly claimed: readonly ClaimedFile[];
  readonly waiting: readonly WaitingFile[];
}

/** Folder in which a file is archived when its batch has ended. */
export type Destination = 'archive' | 'refused';

/** A claimed file whose batch has ended, and where it goes. */
export interface ArchiveFile extends Pick<ClaimedFile, 'slot' | 'name' | 'size' | 'changedAt'> {
  readonly night: NightlyRun;
  /** Null: its run ended without a batch. */
  readonly batchId: string | null;
  readonly destination: Destination;
  /** What a person reads in the note beside the file. */
  readonly note: string;
}

/** An archived file of the last seven days that was written to after Lote had read it. */
export interface ChangedFile {
  /** Relative to the input folder, with `/`. */
  readonly name: string;
  /** Null: its run ended without a batch. */
  readonly batchId: string | null;
}
