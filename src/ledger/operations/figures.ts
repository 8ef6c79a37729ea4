import type { BatchState } from '../../domain/ports/batch-record.ts';
import type { BatchFigures, FiguresLedger } from '../../domain/ports/figures.ts';
import type { Database } from '../database/database.ts';

interface FiguresRow {
  readonly batch_id: string;
  readonly file: string;
  readonly application: string;
  readonly state: string;
  readonly started_at: number;
  readonly invoices: number;
  readonly figures: string | null;
}

/** since, limit. One row a file, and no invoice is read. */
const BATCH_FIGURES = `/* batch-figures */
SELECT b.batch_id, b.file, b.application, b.state, b.started_at, b.invoices, m.figures
FROM batch b LEFT JOIN report_mark m ON m.batch_id = b.batch_id
WHERE b.started_at >= $1
ORDER BY b.seq DESC LIMIT $2`;

/** What the reports of the last nights said in numbers. */
export function createFigures(database: Database): FiguresLedger {
  return {
    async batchFigures(since, limit) {
      const rows = await database.query<FiguresRow>(BATCH_FIGURES, [since, limit]);
      return rows.map((row) => ({
        ...{ batchId: row.batch_id, file: row.file, application: row.application },
        ...{ state: row.state as BatchState, startedAt: row.started_at, invoices: row.invoices },
        figures: row.figures === null ? null : (JSON.parse(row.figures) as BatchFigures),
      }));
    },
  };
}
