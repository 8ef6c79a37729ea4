import type { Ledger } from '../domain/ports/ledger/ledger.ts';
import { createBatches } from './batches/batches.ts';
import { createBreaker } from './sending/circuit-breaker.ts';
import { CLOCK } from './database/clock.ts';
import type { Database } from './database/database.ts';
import type { KeyOf } from './database/key-of.ts';
import { createTotalChecks } from './operations/total-checks.ts';
import { createFigures } from './operations/figures.ts';
import { createMerchants } from './operations/merchants.ts';
import { createOperating } from './operations/operating.ts';
import { createMeasuring } from './operations/measuring.ts';
import { createProfileMisfits } from './operations/profile-misfits.ts';
import { createReconciling } from './operations/reconciling.ts';
import { createReportMarks } from './operations/report-marks.ts';
import { createLookup } from './batches/lookup.ts';
import { migrate } from './database/migrations/migrate.ts';
import { createPurge } from './operations/purge.ts';
import { createSending } from './sending/sending.ts';
import { createSettling } from './settling/settling.ts';
import { createSendingControl } from './sending/sending-control.ts';
import { createServiceUse } from './sending/service-use.ts';
import { createSendingMarks } from './sending/sending-marks.ts';
import { createSharedFolders } from './operations/shared-folders.ts';
import { LEDGER_ID, ledgerId } from './database/ledger-id.ts';
import { createStaging } from './staging/staging.ts';
import { createDeliveries } from './webhooks/deliveries.ts';
import { createEndpoints } from './webhooks/endpoints.ts';

export interface OpenLedger {
  readonly database: Database;
  /** Made when it is not there; null: wherever the database's search path points. */
  readonly schema: string | null;
  readonly keyOf: KeyOf;
}

const NOW = `/* now */ SELECT ${CLOCK} AS now`;

/** The ledger over a database, its schema brought up to date. The database is the ledger's from here on, also when this fails. */
export async function openLedger({ database, schema, keyOf }: OpenLedger): Promise<Ledger> {
  const id = await prepare(database, schema);
  let closed: Promise<void> | null = null;
  return {
    id,
    ...createBatches(database),
    ...createStaging(database, keyOf),
    ...createSending(database),
    ...createSendingControl(database),
    ...createSettling(database),
    ...createMerchants(database),
    ...createDeliveries(database),
    ...createEndpoints(database),
    ...createBreaker(database),
    ...createOperating(database, keyOf),
    ...createReconciling(database),
    ...createReportMarks(database),
    ...createFigures(database),
    ...createServiceUse(database),
    ...createLookup(database),
    ...createPurge(database),
    ...createSharedFolders(database),
    ...createSendingMarks(database),
    ...createProfileMisfits(database),
    ...createTotalChecks(database),
    ...createMeasuring(database),
    ping: async () => void (await database.query(LEDGER_ID)),
    clock: async () => (await database.query<{ now: number }>(NOW))[0]?.now ?? Number.NaN,
    close: () => (closed ??= database.close()),
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
