import type { MerchantLedger } from '../../domain/ports/ledger.ts';
import type { Database } from '../database/database.ts';
import { column } from '../database/array-literal.ts';
import type { MerchantNeedRow } from './merchants-sql.ts';
import { MERCHANTS_NEEDED, SAVE_MERCHANTS } from './merchants-sql.ts';

/** The service's ids of merchants. */
export function createMerchants(database: Database): MerchantLedger {
  return {
    async merchantsNeeded(batchId) {
      const rows = await database.query<MerchantNeedRow>(MERCHANTS_NEEDED, [batchId]);
      return rows.map((row) => ({ nif: row.nif, legalName: row.legal_name, email: row.email }));
    },

    async saveMerchants(application, merchants) {
      // The service's list may hold a merchant twice; the first is taken, and one statement cannot write a row twice.
      const firsts = new Map<string, string>();
      for (const { nif, merchantId } of merchants) if (!firsts.has(nif)) firsts.set(nif, merchantId);
      if (firsts.size === 0) return;
      const rows = [...firsts];
      await database.query(SAVE_MERCHANTS, [
        application,
        column(rows, ([nif]) => nif),
        column(rows, ([, merchantId]) => merchantId),
      ]);
    },
  };
}
