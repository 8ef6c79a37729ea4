import { operatingLedgerContract } from './behaviour/ledger.contract.ts';
import { contractOnPglite } from './on-drivers.ts';

await contractOnPglite('the ledger on PGlite, operated', operatingLedgerContract);
