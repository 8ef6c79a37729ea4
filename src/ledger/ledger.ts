import { createBatches } from './batches/batches.ts';
import { createClaiming } from './batches/claiming.ts';
import { createFindings } from './batches/findings.ts';
import { createLines } from './batches/lines.ts';
import { createLookup } from './batches/lookup.ts';
import { type Database, onlyRow } from '../database/database.ts';
import { ledgerId, migrate } from './migrate.ts';
import { CLOCK } from './sql.ts';
import { createAudit } from './operations/audit.ts';
import { createCalibrations } from './operations/calibration.ts';
import { createMeasuring } from './operations/measuring.ts';
import { createMerchants } from './operations/merchants.ts';
import { createPurge } from './operations/purge.ts';
import { createReconciling } from './operations/reconciling.ts';
import { createReportMarks } from './operations/report-marks.ts';
import { type RetryRequest, retryInvoices } from './operations/retrying.ts';
import { createSharedFolders } from './operations/shared-folders.ts';
import { createTotalChecks } from './operations/total-checks.ts';
import { createBreaker, createServiceUse } from './sending/service-use.ts';
import { createSendLog } from './sending/lost-sends.ts';
import { createSendingControl, createSendingCounts } from './sending/sending-control.ts';
import { createSending } from './sending/sending.ts';
import { createSettling } from './settling/settling.ts';
import { createStaging } from './staging/staging.ts';
import { createDeliveries } from './webhooks/deliveries.ts';
import { createEndpoints } from './webhooks/endpoints.ts';

/**
 * The record of batches, invoices and deliveries. Times are epoch milliseconds. Every method commits before it resolves; calls with few items may be merged
 * with others in flight. A lost race is a result, a lost claim is the error `claim-lost`.
 * @throws LoteError `ledger-unavailable` when the database cannot be reached; nothing was acknowledged then.
 */
export type Ledger = Awaited<ReturnType<typeof openLedger>>;

const NOW = `/* now */ SELECT ${CLOCK} AS now`;

/** Opens the ledger over a database, and updates its schema. Closes the database at the end, or if this fails. If `schema` is null, the search path applies. */
export async function openLedger(database: Database, schema: string | null = null) {
  const id = await prepare(database, schema);
  let closed: Promise<void> | null = null;
  return {
    /** Created once per database. Activities carry it and refuse another ledger's work. */
    id,
    ...createBatches(database),
    ...createClaiming(database),
    ...createFindings(database),
    ...createLines(database),
    ...createLookup(database),
    ...createStaging(database),
    ...createSending(database),
    ...createSendingCounts(database),
    ...createSendingControl(database),
    ...createSendLog(database),
    ...createServiceUse(database),
    ...createBreaker(database),
    ...createSettling(database),
    ...createDeliveries(database),
    ...createEndpoints(database),
    ...createMerchants(database),
    ...createAudit(database),
    ...createReconciling(database),
    ...createReportMarks(database),
    ...createPurge(database),
    ...createSharedFolders(database),
    ...createCalibrations(database),
    ...createTotalChecks(database),
    ...createMeasuring(database),
    retryInvoices: (request: RetryRequest) => retryInvoices(database, request),
    /** Resolves when the database answers. @throws LoteError `ledger-unavailable` */
    ping: async (): Promise<void> => void (await ledgerId(database)),
    /** Returns the database's clock, in epoch milliseconds. @throws LoteError `ledger-unavailable` */
    clock: async (): Promise<number> => onlyRow(await database.query<{ now: number }>(NOW)).now,
    close: (): Promise<void> => (closed ??= database.close()),
  };
}

async function prepare(database: Database, schema: string | null): Promise<string> {
  try {
    await migrate(database, schema);
    return await ledgerId(database);
  } catch (error) {
    await database.close();
    throw error;
  }
}
