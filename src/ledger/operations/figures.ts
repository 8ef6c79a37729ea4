import type { BatchFigures, FiguresLedger } from '../../domain/ports/figures.ts';
import type { Database } from '../database/database.ts';

interface FiguresRow {
  readonly application: string;
  readonly started_at: number;
  readonly figures: string | null;
}

/** since, limit. One row a file, and no invoice is read. */
const BATCH_FIGURES = `/* batch-figures */
SELECT b.application, b.started_at, m.figures
FROM batch b LEFT JOIN report_mark m ON m.batch_id = b.batch_id
WHERE b.started_at >= $1
ORDER BY b.seq DESC LIMIT $2`;

/** What the reports of the last nights said in numbers. */
export function createFigures(database: Database): FiguresLedger {
  return {
    async batchFigures(since, limit) {
      const rows = await database.query<FiguresRow>(BATCH_FIGURES, [since, limit]);
      return rows.map((row) => ({
        application: row.application,
        startedAt: row.started_at,
        figures: row.figures === null ? null : (JSON.parse(row.figures) as BatchFigures),
      }));
    },
  };
}
