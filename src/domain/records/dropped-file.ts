/** One run of the nightly issuance, which claims files in its name. */
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

/** A file that a nightly run has claimed: no other run takes it while this run goes on. */
export interface ClaimedFile {
  /** The file's claim folder under the folder of the nightly run; a run uses each name once. */
  readonly slot: string;
  readonly name: string;
  /** Path relative to the input directory, with `/`; a batch is started with it. */
  readonly file: string;
  /** In bytes; like `changedAt` (epoch milliseconds), from before Lote read the file. */
  readonly size: number;
  readonly changedAt: number;
  /** True if an earlier night had claimed the file and was interrupted. */
  readonly resumed: boolean;
}

/** Why a night did not finish a file. */
export type WaitingReason =
  /** Size or time changed between two checks, because a program still writes the file. */
  | 'growing'
  /** The file is empty, which may be the beginning of an upload. */
  | 'empty'
  /** The system refused to move the file, e.g. because of missing rights. */
  | 'not-movable'
  /** A nightly run of another ledger has claimed the file; it is in the claim folder of that run. */
  | 'other-ledger'
  /** The night reached its limit of files. */
  | 'too-many'
  /** The night failed to process the file. It is in its claim folder, and the next night continues with it. */
  | 'unfinished'
  /** A program changed the file after a batch had read and archived it: a person must drop it again. */
  | 'changed';

/** A dropped file that a nightly run left, in the inbox or in its claim folder, with the reason. */
export interface WaitingFile {
  readonly name: string;
  readonly reason: WaitingReason;
  /** Number of further files that wait for the same reason and are not named, because a folder may hold any number. */
  readonly more?: number;
}

/** Result of claiming: the files of this nightly run, and the files that stay in the inbox. */
export interface Claims {
  /** Every file that the night holds now, including those of an earlier call. */
  readonly claimed: readonly ClaimedFile[];
  readonly waiting: readonly WaitingFile[];
}

/** Folder to which a file is archived when its batch has ended. */
export type Destination = 'archive' | 'refused';

/** A claimed file whose batch has ended, and its destination. */
export interface ArchiveFile extends Pick<ClaimedFile, 'slot' | 'name' | 'size' | 'changedAt'> {
  readonly night: NightlyRun;
  /** Null if the run ended without a batch. */
  readonly batchId: string | null;
  readonly destination: Destination;
  /** Text for a person in the note beside the file. */
  readonly note: string;
}

/** An archived file of the last seven days that a program changed after Lote had read it. */
export interface ChangedFile {
  /** Path relative to the input folder, with `/`. */
  readonly name: string;
  /** Null if the run ended without a batch. */
  readonly batchId: string | null;
}
