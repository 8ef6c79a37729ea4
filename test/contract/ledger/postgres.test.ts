import { sendingLedgerContract } from './behaviour/ledger.contract.ts';
import { contractOnPostgres } from './on-drivers.ts';

await contractOnPostgres('the ledger on PostgreSQL', sendingLedgerContract);
