import { measureRequests } from '../../src/health/metrics/open-metrics.ts';
import { createMeter, type Meter } from '../../src/health/metrics/meter.ts';

/** `node --import tsx bench/processes/instruments-process.ts`: CPU of what the metrics add to a POST and to a statement. */
const TIMES = 100_000;
const ROUNDS = 4;

/** CPU in microseconds, user and system, of one call. */
function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  for (let time = 0; time < TIMES; time += 1) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / TIMES;
}

function round(meter: Meter, measure: ReturnType<typeof measureRequests>): string {
  const post = cpuOf(() => {
    measure('create-invoice', 1)('2xx');
  });
  const statement = cpuOf(() =>
    meter.time('lote_ledger_statement_duration_seconds', 1, { statement: 'record-accepted' }),
  );
  return `${post.toFixed(1)} us a POST, ${statement.toFixed(1)} us a statement`;
}

const meter = createMeter();
const measure = measureRequests(meter);
for (let left = ROUNDS; left > 0; left -= 1) process.stdout.write(`${round(meter, measure)}\n`);
await meter.close();
