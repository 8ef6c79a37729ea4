import { operatingLedgerContract } from './behaviour/ledger.contract.ts';
import { contractOnPostgres } from './on-drivers.ts';

// The first mark of a ledger asks whether anything was ever sent, and stops at the first row that was.
const MAY_READ = ['first-sending-mark reads invoice'];

await contractOnPostgres('the ledger on PostgreSQL, operated', operatingLedgerContract, MAY_READ);
