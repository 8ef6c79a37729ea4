import type { RunLog } from '../../domain/ports/run-log.ts';
import { VERDICTS } from './catalogue.ts';
import type { Labels } from './label-bounds.ts';
import type { Meter } from './meter.ts';

/** The same run log; files and runs are counted when they are written down. */
export function measuredNights(
  log: RunLog,
  { meter, labels }: { readonly meter: Meter; readonly labels: Labels },
): RunLog {
  for (const verdict of VERDICTS) meter.count('lote_nightly_files_total', { verdict, ...labels }, 0);
  meter.count('lote_nightly_runs_total', labels, 0);
  let lastFinishedAt: number | null = null;
  meter.onScrape(['lote_nightly_last_finished_timestamp_seconds'], (observe) => {
    if (lastFinishedAt !== null)
      observe('lote_nightly_last_finished_timestamp_seconds', lastFinishedAt / 1_000, labels);
  });
  return {
    ...log,
    async record(night, entry) {
      const paths = await log.record(night, entry);
      meter.count('lote_nightly_files_total', { verdict: entry.verdict, ...labels });
      return paths;
    },
    async finish(night, end) {
      const finished = await log.finish(night, end);
      meter.count('lote_nightly_runs_total', labels);
      lastFinishedAt = Math.max(lastFinishedAt ?? 0, end.finishedAt);
      return finished;
    },
  };
}
