import { makeLedgerTemplate } from './app/account/open-ledger.ts';

// Last step of `npm ci` in a checkout: a first start takes seven seconds of computing and 650 MB less.
await makeLedgerTemplate();
