import { ApplicationFailure, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { IngestResult } from '../activities/ingest.ts';
import * as options from './activity-options.ts';
import { followBatch } from './batch-control.ts';
import { runPages } from './batch-pages.ts';
import type { BatchInput, BatchResult } from './messages.ts';

const { ingestBatch } = proxyActivities<Activities>(options.INGEST);
const { ensureMerchants } = proxyActivities<Activities>(options.MERCHANTS);
const { finishBatch } = proxyActivities<Activities>(options.BOOKKEEPING);
const { writeReport } = proxyActivities<Activities>(options.REPORT);

/** Another run holds the same file: look again after 1, 2, 4 … 30 s. */
const FIRST_LOOK_MS = 1_000;
const LONGEST_LOOK_MS = 30_000;

/**
 * One file of invoices, from its first byte to its report. The table of contents of Lote:
 * read the file -> ensure its merchants -> send and settle its pages -> report.
 */
export async function invoiceBatch(input: BatchInput): Promise<BatchResult> {
  const batch = followBatch();
  requireFile(input);

  const ingested = await ingestOrAttach();
  if (ingested.kind === 'running') {
    batch.begin(ingested);
    await ensureMerchantsPatiently();
    await runPages(batch, ingested);
    await finishBatch({ ledgerId: ingested.ledgerId, batchId: ingested.batchId, cancelled: batch.cancelled });
  }

  batch.phase('reporting');
  const report = await writeReport({
    ledgerId: ingested.ledgerId,
    batchId: ingested.batchId,
    standing: ingested.kind === 'closed',
  });
  batch.phase('done');
  const attachedTo = batch.attachedTo;
  return { ...report, pagesFailed: batch.pagesFailed, ...(attachedTo === null ? {} : { attachedTo }) };

  async function ingestOrAttach() {
    const { workflowId, runId } = workflowInfo();
    let sha256: string | null = null;
    for (let wait = FIRST_LOOK_MS; ; wait = Math.min(wait * 2, LONGEST_LOOK_MS)) {
      const found: IngestResult = await ingestBatch({ ...input, sha256, workflowId, runId });
      if (found.kind !== 'attached') return found;
      sha256 = found.sha256;
      batch.attach(found.workflowId);
      await sleep(wait, { summary: 'another run has this file: looking again' });
    }
  }

  /** A service that is away at this point is waited for, as in an outage; nothing has been sent yet. */
  async function ensureMerchantsPatiently(): Promise<void> {
    if (ingested.kind !== 'running') return;
    batch.phase('merchants');
    const { ledgerId, batchId, settings } = ingested;
    for (let waited = 0; ;) {
      const lastTry = waited >= settings.patienceMs || batch.cancelled;
      const merchants = await ensureMerchants({ ledgerId, batchId, lastTry });
      batch.waitFor(0, merchants.waiting?.reason ?? null);
      if (merchants.waiting === null || lastTry) return;
      await sleep(merchants.waiting.probeAfterMs, { summary: `waiting: ${merchants.waiting.reason}` });
      waited += merchants.waiting.probeAfterMs;
    }
  }
}

/** Empty input in the Temporal UI arrives as null or undefined: it must fail at once with the sentence that helps. */
function requireFile(input: BatchInput | null | undefined): void {
  if (typeof input === 'object' && input !== null && typeof input.file === 'string' && input.file.trim() !== '') return;
  throw ApplicationFailure.nonRetryable(
    'invoiceBatch needs the name of a file in the input directory. Start it again with this input: {"file": "sample.csv"}',
    'input-invalid',
  );
}
