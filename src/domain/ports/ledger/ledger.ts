import type { FiguresLedger } from '../figures.ts';
import type { InvoiceLookup } from '../invoice-lookup.ts';
import type { MeasuringLedger } from '../measures.ts';
import type { BatchLedger } from './batch-ledger.ts';
import type { BreakerLedger } from './breaker-ledger.ts';
import type { DeliveryLedger } from './delivery-ledger.ts';
import type { EndpointLedger } from './endpoint-ledger.ts';
import type { MerchantLedger } from './merchant-ledger.ts';
import type { OperatingLedger } from './operating-ledger.ts';
import type { ProfileMisfitLedger } from './profile-misfit-ledger.ts';
import type { PurgeLedger } from './purge-ledger.ts';
import type { ReconcilingLedger, ReportMarkLedger } from './reconciling-ledger.ts';
import type { SendingControlLedger } from './sending-control-ledger.ts';
import type { SendingLedger } from './sending-ledger.ts';
import type { SendingMarkLedger } from './sending-mark-ledger.ts';
import type { ServiceUseLedger } from './service-use-ledger.ts';
import type { SettlingLedger } from './settling-ledger.ts';
import type { SharedFolderLedger } from './shared-folder-ledger.ts';
import type { TotalLedger } from './total-ledger.ts';

/**
 * The ledger: the truth about batches, invoices, deliveries. All times are epoch milliseconds, passed in by the caller.
 * Every method commits before it resolves. Calls with many items are set statements; calls with few may be merged with
 * others in flight (group commit). Methods never throw for a lost race: the result says what held. A lost claim is an
 * error, `claim-lost`.
 * @throws LoteError `ledger-unavailable` when the database cannot be reached; nothing was acknowledged then.
 */
export interface Ledger
  extends
    BatchLedger,
    SendingLedger,
    SendingControlLedger,
    SettlingLedger,
    MerchantLedger,
    DeliveryLedger,
    EndpointLedger,
    BreakerLedger,
    OperatingLedger,
    ReconcilingLedger,
    ReportMarkLedger,
    FiguresLedger,
    ServiceUseLedger,
    InvoiceLookup,
    PurgeLedger,
    SharedFolderLedger,
    SendingMarkLedger,
    ProfileMisfitLedger,
    TotalLedger,
    MeasuringLedger {
  /** Made once per database; activities carry it and refuse another ledger's work. */
  readonly id: string;
  /** Resolves when the database answers. @throws LoteError `ledger-unavailable` */
  ping(): Promise<void>;
  /** What its database takes for now, in epoch milliseconds. @throws LoteError `ledger-unavailable` */
  clock(): Promise<number>;
  close(): Promise<void>;
}
