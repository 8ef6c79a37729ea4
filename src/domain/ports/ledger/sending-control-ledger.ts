/** A run of a workflow, as the claim of a batch names it. */
export interface ClaimingRun {
  readonly workflowId: string;
  readonly runId: string;
}

/** The last order of an operator to a running batch. */
export interface SendingControl extends ClaimingRun {
  readonly batchId: string;
  /** Rises with each word of one run: a write that comes late never replaces a later word. */
  readonly version: number;
  readonly paused: boolean;
  readonly cancelled: boolean;
}

/** A batch that may send at this moment, and the run that holds its claim. */
export interface SendingBatch extends ClaimingRun {
  readonly batchId: string;
}

/** Where every process that sends reads whether it still may. */
export interface SendingControlLedger {
  /**
   * Writes the word of the run that holds the claim of a batch that is not closed. False: the claim or a later word
   * stands against it.
   */
  recordControl(control: SendingControl): Promise<boolean>;
  /** Those of the batches that are not closed, paused or cancelled. */
  sendingBatches(batchIds: readonly string[]): Promise<readonly SendingBatch[]>;
}
