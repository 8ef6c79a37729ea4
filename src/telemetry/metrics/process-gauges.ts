import type { Meter } from './meter.ts';

/** What runs: `version` of Lote, `role` of the process. */
export interface ProcessIdentity {
  readonly version: string;
  readonly role: 'embedded' | 'worker' | 'receiver' | 'console';
}

/** Serves what Node knows of this process. */
export function serveProcessGauges(meter: Meter, { version, role }: ProcessIdentity): void {
  let busy = performance.eventLoopUtilization();
  meter.onScrape(
    [
      'lote_build_info',
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'process_start_time_seconds',
      'nodejs_event_loop_utilization',
    ],
    (observe) => {
      const { user, system } = process.cpuUsage();
      const now = performance.eventLoopUtilization();
      observe('lote_build_info', 1, { version, role });
      observe('process_cpu_seconds_total', (user + system) / 1_000_000);
      observe('process_resident_memory_bytes', process.memoryUsage.rss());
      observe('process_start_time_seconds', performance.timeOrigin / 1_000);
      observe('nodejs_event_loop_utilization', performance.eventLoopUtilization(now, busy).utilization);
      busy = now;
    },
  );
}
